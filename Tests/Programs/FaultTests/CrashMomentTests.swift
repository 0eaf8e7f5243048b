import Foundation
import Glibc
import JourneyTestSupport
import Postgres
import TestSupport
import Testing

/// `kill -9` of the daemon at the two moments at which a reminder could be lost or sent twice.
@Suite struct CrashMomentTests {
    enum TransactionOutcome: CaseIterable { case committed, rolledBack }

    @Test(
        "After a kill between claim and send, a stream gets each reminder once",
        arguments: TransactionOutcome.allCases)
    func betweenClaimAndSend(_ transaction: TransactionOutcome) async throws {
        try await Journey.run { journey in
            let first = try await journey.process()
            let start = try await journey.instant(in: 3600)
            let room = try await first.endpoint.pair("ada", "bob", start)
            let streams = try await ["ada", "bob"].asyncMap { try await first.endpoint.reminders(of: $0) }
            let gate = try await StatementGate.close(at: .claim, in: journey)
            try await journey.advance(to: start, -60)
            try await gate.waitForStatements()
            switch transaction {
            case .committed:
                // The frozen daemon doesn't read the database's answer.
                try await first.daemon.freeze()
                try await gate.open()
                try await journey.wait(until: "(SELECT count(*) FROM reminders.reminder) = 2")
                try await first.daemon.kill9()
            case .rolledBack:
                try await first.daemon.kill9()
                try await gate.rollBack()
                #expect(try await journey.count("reminders.reminder") == 0)
            }
            for stream in streams {
                await #expect(throws: ClientFailure.self) { try await stream.nextReminder() }
            }

            let (daemon, endpoint) = try await journey.process()
            for device in ["ada", "bob"] {
                let stream = try await endpoint.reminders(of: device)
                #expect(try await stream.nextReminder().roomId == room)
            }
            try await journey.expectDelivered(2)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(
        "After a kill between send and commit, the repeated reminder has the same id",
        arguments: TransactionOutcome.allCases)
    func betweenSendAndCommit(_ transaction: TransactionOutcome) async throws {
        try await Journey.run { journey in
            let first = try await journey.process()
            let start = try await journey.instant(in: 3600)
            _ = try await first.endpoint.pair("ada", "bob", start)
            let streams = try await ["ada", "bob"].asyncMap { try await first.endpoint.reminders(of: $0) }
            let gate = try await StatementGate.close(at: .acknowledgement, in: journey)
            try await journey.advance(to: start, -60)
            let reminders = try await streams.asyncMap { try await $0.nextReminder() }
            try await gate.waitForStatements()
            try await first.daemon.kill9()
            switch transaction {
            case .committed: try await gate.open()
            case .rolledBack:
                try await gate.rollBack()
                #expect(try await journey.count("reminders.reminder WHERE state = 'pending'") == 2)
            }

            let (daemon, endpoint) = try await journey.process()
            let ada = try await endpoint.reminders(of: "ada")
            #expect(try await ada.nextReminder() == reminders[0])
            let bob = try await endpoint.reminders(of: "bob", after: reminders[1].id)
            // Bob's `Last-Event-ID` has acknowledged his reminder.
            try await journey.expectDelivered(2)
            let next = try await journey.instant(in: 3600)
            for device in ["ada", "bob"] { try await endpoint.register(device, next, "Next") }
            try await journey.advance(to: next, -60)
            for stream in [ada, bob] { #expect(try await stream.nextReminder().title == "Next") }
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}

extension Journey {
    /// Waits until `count` reminders of different tasks are delivered, no others exist, and `unclaimed` due tasks are
    /// unclaimed.
    func expectDelivered(_ count: Int, besides unclaimed: Int = 0) async throws {
        try await wait(until: "(SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = \(count)")
        let rows = try await sql("SELECT count(*) AS n, count(DISTINCT task_id) AS tasks FROM reminders.reminder")
        #expect(try rows[0].integer("n") == count)
        #expect(try rows[0].integer("tasks") == count)
        #expect(try await self.count("schedule.due WHERE reminds_at <= core.clock()") == unclaimed)
    }
}
