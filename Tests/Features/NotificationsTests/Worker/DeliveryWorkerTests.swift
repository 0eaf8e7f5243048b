import Domain
import FoundationEssentials
import Observability
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications
@testable import Schedule

/// Delivery workers.
@Suite struct DeliveryWorkerTests {
    private static let before = "2026-11-22T08:00:00Z"

    /// Runs a worker during `body`.
    private func run(
        _ provider: ScriptedProvider, on database: ScheduleDatabase, lease: Duration = .seconds(8),
        _ body: (DeliveryWorker) async throws -> Void
    ) async throws {
        let worker = DeliveryWorker(
            provider, store: database.deliveries,
            log: Log(level: .error, format: .text, descriptor: 2), lease: lease)
        let running = Task { await worker.run() }
        do {
            try await body(worker)
        } catch {
            await worker.stop(within: .zero)
            await running.value
            throw error
        }
        await worker.stop(within: .seconds(60))
        await running.value
    }

    private func fill(_ database: ScheduleDatabase, _ count: Int) async throws {
        try await database.writeEvents(1...count)
    }

    private func isOff(_ database: ScheduleDatabase) async throws -> Bool {
        try await database.count("core.provider WHERE name = 'webhook' AND disabled_at IS NOT NULL") == 1
    }

    @Test("Every waiting delivery is sent once, with any number in flight")
    func all() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 700)
            let provider = ScriptedProvider(.webhook, concurrency: 3)
            try await run(provider, on: database) { worker in
                try await eventually("all sent") { try await database.count("core.delivery") == 0 }
                #expect(worker.metrics.outcomes.value(.accepted) == 700)
                #expect(worker.metrics.sending == 0)
            }
            #expect(Set(provider.asked.all.map(\.title)).count == 700)
            #expect(provider.asked.all.count == 700)
        }
    }

    @Test("A delivery written while the worker sleeps is sent after a wake-up")
    func woken() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let provider = ScriptedProvider(.webhook)
            try await run(provider, on: database) { worker in
                try await fill(database, 1)
                worker.wake()
                try await provider.asked.next()
            }
        }
    }

    @Test("A reminder has the same id on every attempt")
    func retry() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.run("UPDATE letsswitch.test_clock SET at = NULL")
            let start = Instant(seconds: Int(Date().timeIntervalSince1970) + 70)
            try await database.addresses.register("t", of: DeviceID(stored: "ada"), in: .ntfy, most: 1)
            try await database.serve([.ntfy])
            _ = try await database.schedule.register(
                try ScheduleDatabase.request("ada", "\(start)", "History", zone: "UTC"))
            try await database.run("UPDATE schedule.due SET reminds_at = clock_timestamp()")
            _ = try await database.reminders.claimDue(limit: 10)
            let provider = ScriptedProvider { $0.attempt == 1 ? .retry(after: nil, "not yet") : .accepted }
            try await run(provider, on: database) { worker in
                let first = try await provider.asked.next()
                let second = try await provider.asked.next()
                #expect(first.attempt == 1)
                #expect(second.attempt == 2)
                #expect(second.messageId == first.messageId)
                try await eventually("the end") { try await database.count("core.delivery") == 0 }
                #expect(worker.metrics.outcomes.value(.retried) == 1)
            }
            #expect(try await database.count("reminders.reminder WHERE state = 'delivered'") == 1)
        }
    }

    @Test("A failing provider pauses with all its deliveries")
    func rests() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 20)
            let provider = ScriptedProvider(.webhook, concurrency: 2) { _ in .paused(for: .seconds(600), "away") }
            try await run(provider, on: database) { worker in
                try await provider.asked.next()
                try await eventually("all given back") {
                    try await database.count("core.delivery WHERE attempts = 0") == 20
                }
                #expect(provider.asked.all.count <= 2)
                #expect(worker.metrics.outcomes.value(.paused) >= 1)
            }
        }
    }

    @Test("Deliveries leased while the provider begins to pause are sent afterwards")
    func restsDuringLease() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 6) { database in
            let paused = EventRecorder<Int>()
            let answer = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook) { delivery in
                guard paused.all.isEmpty else { return .accepted }
                paused.append(delivery.id)
                for await _ in answer.stream {}
                return .paused(for: .seconds(1), "away")
            }
            try await run(provider, on: database) { worker in
                try await fill(database, 1)
                worker.wake()
                try await paused.next()
                let gate = try await LeaseGate.close(in: database)
                try await fill(database, 6)
                worker.wake()
                try await eventually("a lease in the air") { try await gate.isBusy() }
                answer.continuation.finish()
                try await eventually("the rest") { worker.metrics.outcomes.value(.paused) == 1 }
                try await gate.open()
                try await eventually("all sent") { try await database.count("core.delivery") == 0 }
                #expect(worker.metrics.outcomes.value(.accepted) == 7)
            }
        }
    }

    @Test("Deliveries leased after the provider was refused aren't sent")
    func offDuringLease() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 6) { database in
            let answer = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook) { _ in
                for await _ in answer.stream {}
                return .gone("status 410")
            }
            try await run(provider, on: database) { worker in
                try await fill(database, 1)
                worker.wake()
                try await provider.asked.next()
                let gate = try await LeaseGate.close(in: database)
                try await fill(database, 6)
                worker.wake()
                try await eventually("a lease in the air") { try await gate.isBusy() }
                answer.continuation.finish()
                // The delivery is returned for another daemon. The database gets the result when the provider has
                // answered.
                try await eventually("the turning away") { worker.metrics.outcomes.value(.paused) == 1 }
                try await gate.open()
                try await eventually("the end of the provider") { try await isOff(database) }
                try await eventually("nothing") { try await database.count("core.delivery") == 0 }
            }
            #expect(provider.asked.all.count == 1)
        }
    }

    @Test("Deliveries leased after the end are given back at once")
    func stopsDuringLease() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 6) { database in
            let provider = ScriptedProvider(.webhook)
            try await fill(database, 5)
            let gate = try await LeaseGate.close(in: database)
            try await run(provider, on: database) { worker in
                try await eventually("a lease in the air") { try await gate.isBusy() }
                await worker.stop(within: .zero)
                try await gate.open()
            }
            #expect(provider.asked.all.isEmpty)
            #expect(try await database.lease(.webhook).deliveries.map(\.attempt) == [1, 1, 1, 1, 1])
        }
    }

    @Test("A delivery in stock isn't sent after its deadline")
    func late() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 3)
            try await database.run(
                """
                UPDATE core.delivery SET deadline = clock_timestamp()
                    + CASE event.title WHEN '2' THEN interval '0.4 seconds' ELSE interval '1 hour' END
                FROM core.event WHERE event.id = delivery.event_id
                """)
            let provider = ScriptedProvider(.webhook, concurrency: 1) { delivery in
                // The first attempt ends after the second delivery's deadline.
                if delivery.title == "1" { try? await Task.sleep(for: .milliseconds(500)) }
                return .accepted
            }
            try await run(provider, on: database) { worker in
                try await eventually("the end") { try await database.count("core.delivery") == 0 }
                #expect(worker.metrics.outcomes.value(.expired) == 1)
            }
            #expect(provider.asked.all.map(\.title) == ["1", "3"])
            #expect(provider.asked.all.last?.timeLeft ?? 3600 < 3600 - 0.4)
        }
    }

    @Test("A delivery leased by another daemon after a pause isn't sent twice")
    func standstill() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 2)
            // The worker can't renew its leases any more.
            try await database.run("ALTER FUNCTION notifications.renew_deliveries RENAME TO renewed_no_more")
            let answer = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook, concurrency: 1) { _ in
                for await _ in answer.stream {}
                return .accepted
            }
            try await run(provider, on: database, lease: .milliseconds(200)) { _ in
                try await provider.asked.next()
                try await eventually("the other's lease") {
                    try await database.lease(.webhook).deliveries.contains { $0.title == "2" }
                }
                answer.continuation.finish()
                try await eventually("the first one's end") { try await database.count("core.delivery") == 1 }
            }
            #expect(provider.asked.all.map(\.title) == ["1"])
        }
    }

    @Test("Servers that hang don't delay one that answers")
    func hanging() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            // First come 300 deliveries to servers that hang.
            try await fill(database, 300)
            try await database.run("UPDATE core.event SET title = 'bad'")
            try await fill(database, 40)
            let end = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook, concurrency: 20) { delivery in
                guard delivery.title == "bad" else { return .accepted }
                for await _ in end.stream {}
                return .accepted
            } origins: { delivery in
                delivery.title == "bad" ? "bad \(delivery.id % 7)" : "good"
            }
            try await run(provider, on: database) { worker in
                try await eventually("the good ones") { worker.metrics.outcomes.value(.accepted) == 40 }
                #expect(worker.metrics.sending <= 10)
                end.continuation.finish()
            }
        }
    }

    @Test("A webhook that answers 410 is switched off")
    func off() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 20)
            try await database.serve([.ntfy])
            let provider = ScriptedProvider(.webhook, concurrency: 1) { _ in .gone("status 410") }
            try await run(provider, on: database) { _ in
                try await eventually("nothing") { try await database.count("core.delivery") == 0 }
                #expect(try await isOff(database))
                #expect(try await database.count("core.provider WHERE disabled_at IS NULL") == 1)
                #expect(provider.asked.all.count == 1)
            }
        }
    }

    @Test("A refused worker leaves everything to a later one")
    func leaves() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 20)
            let turned = AsyncStream<Void>.makeStream()
            let old = ScriptedProvider(.webhook, concurrency: 1) { _ in
                for await _ in turned.stream {}
                return .gone("status 410")
            }
            let new = ScriptedProvider(.webhook)
            try await run(old, on: database) { _ in
                try await old.asked.next()
                try await run(new, on: database) { _ in
                    try await new.asked.next()
                    turned.continuation.finish()
                    try await eventually("all sent") { try await database.count("core.delivery") == 0 }
                    #expect(try await !isOff(database))
                }
            }
            #expect(old.asked.all.count == 1)
            #expect(Set(new.asked.all.map(\.title)).count == 20)
        }
    }

    @Test("Reminders are sent at once, even if all events hang")
    func urgent() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await fill(database, 100)
            let end = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook, concurrency: 4) { delivery in
                if !delivery.isUrgent { for await _ in end.stream {} }
                return .accepted
            }
            try await run(provider, on: database) { worker in
                // Hanging deliveries use half of the places, and the others wait.
                try await eventually("two that hang") { worker.metrics.sending == 2 }
                let claim = try await database.claimMatch(for: [])
                worker.wake()
                try await eventually("the reminders") { worker.metrics.outcomes.value(.accepted) == 2 }
                #expect(Set(provider.asked.all.compactMap(\.reminderId)) == Set(claim.reminders.map(\.id)))
                #expect(provider.asked.all.count == 4)
                end.continuation.finish()
            }
        }
    }

    @Test("Waiting events are sent together, and failed ones in smaller groups")
    func batches() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 64)
            let provider = ScriptedProvider(.webhook, concurrency: 2, batchLimit: 16) { first in
                first.attempt == 1 ? .retry(after: nil, "too many") : .accepted
            }
            try await run(provider, on: database, lease: .seconds(3600)) { worker in
                try await eventually("all failed") { worker.metrics.outcomes.value(.retried) == 64 }
                // Deliveries whose results aren't written yet stay leased for an hour.
                try await eventually("all written") {
                    try await database.count(
                        "core.delivery WHERE next_try_at > core.clock() + interval '1 minute'") == 0
                }
                try await database.run("UPDATE core.delivery SET next_try_at = core.clock()")
                worker.wake()
                try await eventually("all sent") { try await database.count("core.delivery") == 0 }
                #expect(worker.metrics.outcomes.value(.accepted) == 64)
            }
            let batches = provider.batches.all
            #expect(batches.filter { $0.first?.attempt == 1 }.map(\.count) == [16, 16, 16, 16])
            #expect(batches.allSatisfy { $0.count <= ($0.first?.attempt == 1 ? 16 : 8) })
            #expect(batches.contains { $0.count == 8 })
            let ids = Dictionary(grouping: batches.joined(), by: \.id)
            #expect(ids.values.allSatisfy { Set($0.map(\.messageId)).count == 1 && $0.count == 2 })
        }
    }

    @Test("A stopping worker waits for attempts in flight and gives back the rest")
    func stops() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 10)
            let gate = AsyncStream<Void>.makeStream()
            let provider = ScriptedProvider(.webhook, concurrency: 1) { _ in
                for await _ in gate.stream {}
                return .accepted
            }
            try await run(provider, on: database) { _ in
                try await provider.asked.next()
                gate.continuation.finish()
            }
            let left = try await database.count("core.delivery")
            #expect(left < 10)
            #expect(try await database.lease(.webhook).deliveries.count == left)
        }
    }

    @Test("An attempt that hangs at the end is cancelled and repeated by the next daemon")
    func cutOff() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            try await fill(database, 1)
            let provider = ScriptedProvider(.webhook) { _ in
                try? await Task.sleep(for: .seconds(3600))
                return .retry(after: nil, "cancelled")
            }
            let worker = DeliveryWorker(
                provider, store: database.deliveries,
                log: Log(level: .error, format: .text, descriptor: 2))
            let running = Task { await worker.run() }
            let first = try await provider.asked.next()
            await worker.stop(within: .zero)
            await running.value
            let second = try #require(try await database.lease(.webhook).deliveries.first)
            #expect(second.messageId == first.messageId)
            #expect(second.attempt == 2)
        }
    }

    @Test("Two workers of one provider send everything once")
    func two() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 6) { database in
            try await fill(database, 600)
            let providers = [ScriptedProvider(.webhook), ScriptedProvider(.webhook)]
            try await run(providers[0], on: database) { _ in
                try await run(providers[1], on: database) { _ in
                    try await eventually("all sent") { try await database.count("core.delivery") == 0 }
                }
            }
            let payloads = providers.flatMap { $0.asked.all.map(\.title) }
            #expect(payloads.count == 600)
            #expect(Set(payloads).count == 600)
        }
    }
}
