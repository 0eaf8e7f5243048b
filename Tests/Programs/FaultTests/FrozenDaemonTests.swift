import Domain
import Foundation
import JourneyTestSupport
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Two daemons on one database, of which one is stopped for a while.
@Suite struct FrozenDaemonTests {
    private static let devices = (0..<50).map { "d\($0)" }
    private static let tasksPerDevice = 20

    /// Registers a thousand tasks that become due together.
    private func register(from start: Instant, in journey: Journey) async throws {
        let store = ScheduleStore(database: journey.client, settings: ScheduleSettings())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in Self.devices {
                group.addTask {
                    for number in 0..<Self.tasksPerDevice {
                        let instant = Instant(seconds: start.seconds + number)
                        let request = try ScheduleDatabase.request(device, "\(instant)", "T\(number)", zone: "UTC")
                        guard try await store.register(request).isCreated else {
                            throw ClientFailure.violation("\(device) is not registered")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(
        "If a daemon is stopped during its claim, 1,000 reminders still reach every stream once")
    func stoppedInItsClaim() async throws {
        try await Journey.run(timeouts: .documented) { journey in
            // A claim has no lease. After the time limit of a query, the continued daemon gives its claim up.
            let frozen = try await journey.process(["--database-timeout", "1s"])
            let start = try await journey.instant(in: 3600)
            try await register(from: start, in: journey)
            let there = try await streams(at: frozen.endpoint)
            let gate = try await StatementGate.close(at: .claim, in: journey)
            try await journey.advance(to: start, -40)
            try await gate.waitForStatements()
            try await frozen.daemon.freeze()
            let stopped = ContinuousClock.now

            // The other daemon claims the rest, and is notified of the frozen daemon's claim.
            let other = try await journey.process()
            let here = try await streams(at: other.endpoint)
            try await gate.open()
            let first = try await receive(Self.tasksPerDevice, from: here)
            // The other daemon sends all reminders, although the frozen one had claimed the first half.
            // `BatchOrderTests` tests their order, which a busy machine can change here.
            let titles = Set((0..<Self.tasksPerDevice).map { "T\($0)" })
            #expect(first.allSatisfy { Set($0.map(\.title)) == titles })
            try await journey.expectDelivered(1000)
            try await Task.sleep(until: stopped + .seconds(2), clock: .continuous)

            await frozen.daemon.thaw()
            #expect(try await receive(Self.tasksPerDevice, from: there).map(Self.ids(of:)) == first.map(Self.ids(of:)))
            // Neither daemon repeats a reminder: the next one is the new one.
            let next = try await journey.instant(in: 3600)
            for device in Self.devices { try await other.endpoint.register(device, next, "Next") }
            try await journey.advance(to: next, -60)
            let last = try await receive(1, from: here)
            #expect(last.joined().allSatisfy { $0.title == "Next" })
            #expect(try await receive(1, from: there) == last)
            try await journey.expectDelivered(1000 + Self.devices.count)
        }
    }

    private func streams(at endpoint: ClientEndpoint) async throws -> [EventStreamTestClient] {
        try await Self.devices.asyncMap { try await endpoint.reminders(of: $0) }
    }

    /// Returns the next reminders of each stream in the order in which they came. All of a stream's must differ.
    private func receive(_ count: Int, from streams: [EventStreamTestClient]) async throws -> [[ReceivedReminder]] {
        let received = try await streams.asyncMap { stream in
            var reminders: [ReceivedReminder] = []
            for _ in 0..<count { reminders.append(try await stream.nextReminder()) }
            return reminders
        }
        #expect(Set(received.joined().map(\.id)).count == count * streams.count)
        return received
    }

    private static func ids(of reminders: [ReceivedReminder]) -> Set<UUID> {
        Set(reminders.map(\.id))
    }
}
