import Foundation
import TestSupport
import Testing

@testable import LetsSwitchClient

/// A program with screens: notifications while the user is logged in, and a room's channel while its screen is shown.
@Suite struct ChatExampleTests {
    private struct AppState: Sendable, Equatable {
        var schedules: [String] = []
        var cheers: [UUID: Int] = [:]
        var failures: [String] = []
    }

    private enum AppAction: Sendable {
        case scheduled(String)
        case cheered(UUID)
        case failed(String)
    }

    private enum Screen: Hashable, Sendable {
        case notifications
        case room(UUID)
    }

    private struct Schedules: OutputMapping {
        struct Schedule: Decodable { let startsAt: String }

        func map(_ message: CableMessage) throws -> String? {
            message.type == "schedule" ? try message.data(as: Schedule.self).startsAt : nil
        }
    }

    private struct AddSchedule: ActionMapping {
        func actions(for output: String, in state: AppState) -> [AppAction] {
            state.schedules.contains(output) ? [] : [.scheduled(output)]
        }
    }

    private struct Cheers: OutputMapping {
        let room: UUID

        func map(_ message: CableMessage) throws -> UUID? { message.type == "aleResponse" ? room : nil }
    }

    private struct CountCheer: ActionMapping {
        func actions(for output: UUID, in state: AppState) -> [AppAction] { [.cheered(output)] }
    }

    private static func store() -> Store<AppState, AppAction> {
        Store(AppState()) { state, action in
            switch action {
            case .scheduled(let time): state.schedules.append(time)
            case .cheered(let room): state.cheers[room, default: 0] += 1
            case .failed(let why): state.failures.append(why)
            }
        }
    }

    /// Runs the program at a server where `schedule` causes a notification.
    private static func live(at server: any Transport, schedule: () async throws -> Void) async throws {
        let cable = CableClient(.cable(server, path: "/cable?deviceId=ada"))
        let other = CableClient(.cable(server, path: "/cable?deviceId=bob"))
        let store = store()
        let effects = Effects<Screen, AppState, AppAction>(store)
        let (first, second) = (UUID(), UUID())
        func show(_ room: UUID) async {
            await effects.run(
                ChannelEffect(
                    channel: { await cable.subscribe("RoomChannel", ["id": room.uuidString]) },
                    output: Cheers(room: room),
                    actions: CountCheer(), failure: { .failed("\($0)") }), as: .room(room))
        }
        // The user logs in.
        await effects.run(
            ChannelEffect(
                channel: { await cable.subscribe("NotificationsChannel") }, output: Schedules(), actions: AddSchedule(),
                failure: { .failed("\($0)") }), as: .notifications)
        try await eventually("a notification") {
            try await schedule()
            return await !store.state.schedules.isEmpty
        }
        // The user opens a room's screen, and then another one.
        let (friend, friends) = (
            await other.subscribe("RoomChannel", ["id": first.uuidString]),
            await other.subscribe("RoomChannel", ["id": second.uuidString])
        )
        await show(first)
        try await eventually("a cheer") {
            try await friend.perform("ale")
            return await store.state.cheers[first] != nil
        }
        #expect(await effects.cancel(.room(first)))
        let count = await store.state.cheers[first]
        try await friend.perform("ale")
        await show(second)
        try await eventually("a cheer there") {
            try await friends.perform("ale")
            return await store.state.cheers[second] != nil
        }
        #expect(await store.state.cheers[first] == count)
        // The user logs out, and in again.
        await effects.cancelAll()
        await show(first)
        try await eventually("a cheer again") {
            try await friend.perform("ale")
            return await (store.state.cheers[first] ?? 0) > (count ?? 0)
        }
        await effects.cancelAll()
        #expect(await store.state.failures == [])
        await cable.cancel()
        await other.cancel()
    }

    @Test("The state follows logins and screens with this server")
    func ours() async throws {
        try await RunningDaemon.with(["--open-rooms"]) { server, _ in
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 3600).rounded())
            let client = LetsSwitchClient(server, deviceID: "ada")
            var hours = 0.0
            try await Self.live(at: server) {
                hours += 1
                // The subscription may not exist yet. Then the next notification is received.
                guard hours < 20 else { return }
                _ = try await client.register("History", at: start + hours * 3600, timeZone: "UTC")
            }
        }
    }

    @Test(
        "The state follows logins and screens with Rails' own server",
        .enabled(if: TestBroker.isWanted && RailsServer.isInstalled, "it needs Rails: make interop-cable"))
    func rails() async throws {
        let rails = try await RailsServer.start()
        let server = systemTransport(to: try ServerAddress("\(rails.endpoint)"))
        let backend = CableClient(.cable(server))
        let notifications = await backend.subscribe("NotificationsChannel")
        try await Self.live(at: server) { try await notifications.perform("schedule") }
        await backend.cancel()
        try await rails.stop()
    }
}
