import Foundation
import Glibc
import TestSupport
import Testing

@testable import LetsSwitchClient

/// Tests with this server, and with Rails' own server.
@Suite struct CableServerTests {
    private static func room(_ id: UUID) -> [String: String] { ["id": id.uuidString] }

    /// Runs a room with two members, of which one loses the connection and returns, and a third that is rejected. It is
    /// the same for both servers.
    private static func meet(at server: any Transport, restart: () async throws -> Void) async throws {
        let (ada, bob) = (CableClient(.cable(server)), CableClient(.cable(server)))
        let id = UUID()
        let (adas, bobs) = (
            await ada.subscribe("RoomChannel", room(id)), await bob.subscribe("RoomChannel", room(id))
        )
        var (events, others) = (adas.events.makeAsyncIterator(), bobs.events.makeAsyncIterator())
        #expect(try await events.next() == .confirmed)
        #expect(try await others.next() == .confirmed)
        var refused = await ada.subscribe("RoomChannel", ["id": "none"]).events.makeAsyncIterator()
        #expect(try await refused.next() == .rejected)
        #expect(try await refused.next() == nil)
        try await bobs.perform("ale")
        guard case .message(let message)? = try await events.next() else {
            Issue.record("no ale")
            return
        }
        #expect(message.type == "aleResponse")
        #expect(try message.data(as: [String: String].self).isEmpty)
        try await restart()
        #expect(try await events.next() == .lost)
        #expect(try await events.next() == .confirmed)
        #expect(try await others.next() == .lost)
        #expect(try await others.next() == .confirmed)
        try await adas.perform("ale")
        guard case .message? = try await others.next() else {
            Issue.record("no ale after the restart")
            return
        }
        await ada.cancel()
        await bob.cancel()
        #expect(try await events.next() == nil)
    }

    @Test("Room subscriptions survive a restart of this server", arguments: [SIGTERM, SIGKILL])
    func ours(signal: CInt) async throws {
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let arguments = ["--database-url", database, "--log-format", "json", "--open-rooms", "--listen"]
        let (daemon, endpoint) = try await DaemonProcess.listening(arguments + ["127.0.0.1:0"])
        var again: DaemonProcess?
        try await Self.meet(at: try ValidatingTransport(to: endpoint)) {
            await daemon.signal(signal)
            _ = try await daemon.waitForExit()
            again = try await DaemonProcess.listening(arguments + ["\(endpoint)"]).0
        }
        try await again?.terminate()
    }

    @Test("A client without a valid ticket is refused permanently")
    func unauthorized() async throws {
        let secret = "/tmp/ls-ticket-\(UUID().uuidString)"
        try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(fileURLWithPath: secret))
        defer { try? FileManager.default.removeItem(atPath: secret) }
        #expect(chmod(secret, 0o600) == 0)
        try await RunningDaemon.with(["--ticket-secret-file", secret]) { server, _ in
            let client = LetsSwitchClient(server, deviceID: "ada", ticket: "no.ticket.atall")
            var events = await client.cable.subscribe("RemindersChannel").events.makeAsyncIterator()
            await #expect(throws: ClientError.sentAway("unauthorized")) { try await events.next() }
        }
    }

    @Test("Reminders and notifications arrive over Action Cable")
    func reminders() async throws {
        try await RunningDaemon.with(["--reminder-lead", "1h"]) { server, _ in
            let client = LetsSwitchClient(server, deviceID: "ada")
            var events = await client.cable.subscribe("RemindersChannel").events.makeAsyncIterator()
            #expect(try await events.next() == .confirmed)
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 3604).rounded())
            let promise = try await client.register("History", at: start, timeZone: "UTC")
            guard case .message(let message)? = try await events.next() else {
                Issue.record("no reminder")
                return
            }
            #expect(message.type == "reminder")
            struct Reminder: Decodable { let taskId: UUID }
            #expect(try message.data(as: Reminder.self).taskId == promise.id)
        }
    }

    @Test(
        "Room subscriptions survive a restart of Rails' own server",
        .enabled(if: TestBroker.isWanted && RailsServer.isInstalled, "it needs Rails: make interop-cable"))
    func rails() async throws {
        var rails = try await RailsServer.start()
        let port = rails.port
        try await Self.meet(at: systemTransport(to: try ServerAddress("\(rails.endpoint)"))) {
            try await rails.stop()
            rails = try await RailsServer.start(port: port)
        }
        try await rails.stop()
    }
}
