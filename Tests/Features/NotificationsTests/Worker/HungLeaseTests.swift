import Observability
import Postgres
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications

/// A worker while its query that leases other deliveries than reminders hangs.
@Suite struct HungLeaseTests {
    @Test("Reminders are leased, sent and stored while a lease of other deliveries hangs")
    func reminders() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T08:00:00Z") { database in
            try await database.writeEvents(1...1)
            let gate = try await LeaseGate.close(in: database, forOthersAlone: true)
            let provider = ScriptedProvider(.webhook)
            var patient = database.configuration
            // The query has no time limit here: it ends only when the gate opens.
            (patient.queryTimeout, patient.stallTimeout) = (.seconds(86_400), .seconds(86_400))
            let others = PostgresClient(configuration: patient)
            let worker = DeliveryWorker(
                provider, store: DeliveryStore(database: database.client, others: others),
                log: Log(level: .error, format: .text, descriptor: 2), lease: .seconds(3600))
            let running = Task { await worker.run() }
            do {
                try await eventually("a lease in the air") { try await gate.isBusy() }
                let claim = try await database.claimMatch(for: [])
                worker.wake()
                try await eventually("the reminders' end") {
                    try await database.count("core.delivery WHERE urgent") == 0
                }
                #expect(Set(provider.asked.all.compactMap(\.reminderId)) == Set(claim.reminders.map(\.id)))
                #expect(worker.metrics.outcomes.value(.accepted) == 2)
                #expect(try await gate.isBusy())
            } catch {
                Issue.record(error)
            }
            try await gate.open()
            try await eventually("the event") { provider.asked.all.contains { $0.title == "1" } }
            await worker.stop(within: .seconds(60))
            await running.value
            await others.shutdown()
        }
    }
}
