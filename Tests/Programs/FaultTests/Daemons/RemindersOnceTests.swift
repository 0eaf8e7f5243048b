import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Three daemons on one database send each reminder once, even if one of them dies.
@Suite struct RemindersOnceTests {
    enum TransactionOutcome: CaseIterable { case committed, rolledBack }

    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    @Test(
        "After a kill during a claim, each stream gets each reminder once",
        arguments: TransactionOutcome.allCases)
    func once(_ transaction: TransactionOutcome) async throws {
        let cluster = try await TestCluster.dedicated()
        try await HTTPRecorder.run { recorder in
            try await Journey.run(on: cluster) { journey in
                let fleet = try await DaemonFleet.start(
                    3, in: journey, ["--webhook-url", recorder.url("/hook"), "--webhook-secret", Self.secret])
                let devices = (0..<6).map { "d\($0)" }
                let start = try await journey.instant(in: 3600)
                for (number, device) in devices.enumerated() {
                    try await fleet.endpoints[number % 3].register(device, start, "First")
                }
                // The third daemon's streams end with it.
                let streams = try await Array(fleet.endpoints.prefix(2)).asyncMap { endpoint in
                    try await devices.asyncMap { try await endpoint.reminders(of: $0) }
                }
                try await Self.killWhileItClaims(fleet, start, transaction, in: journey)
                for stream in streams.joined() { #expect(try await stream.nextReminder().title == "First") }
                try await Self.waitUntilDelivered(devices.count, in: journey)

                let next = Instant(seconds: start.seconds + 600)
                for (number, device) in devices.enumerated() {
                    try await fleet.endpoints[number % 2].register(device, next, "Next")
                }
                try await Self.waitUntilDelivered(devices.count, in: journey)
                try await cluster.restart()
                try await journey.advance(to: next, -60)
                // Nothing is sent twice: the next reminder is the new one.
                for stream in streams.joined() { #expect(try await stream.nextReminder().title == "Next") }
                try await Self.waitUntilDelivered(2 * devices.count, in: journey)
                let reminded = try recorder.requests.all.filter { try $0.json()["type"].string == "reminder" }
                #expect(reminded.count == 2 * devices.count)
                #expect(Set(reminded.compactMap { $0.headers["webhook-id"] }).count == 2 * devices.count)
            }
        }
        await cluster.stop()
    }

    /// Kills the third daemon while it claims, either before the commit or before it receives the answer.
    private static func killWhileItClaims(
        _ fleet: DaemonFleet, _ start: Instant, _ transaction: TransactionOutcome, in journey: Journey
    ) async throws {
        // The other daemons are frozen, so the third one claims.
        for index in [0, 1] { try await fleet[index].process.freeze() }
        let gate = try await StatementGate.close(at: .claim, in: journey)
        try await journey.advance(to: start, -60)
        try await gate.waitForStatements()
        switch transaction {
        case .committed:
            try await fleet[2].process.freeze()
            try await gate.open()
            try await journey.wait(until: "EXISTS (SELECT FROM reminders.reminder)")
            try await fleet[2].process.kill9()
        case .rolledBack:
            try await fleet[2].process.kill9()
            try await gate.rollBack()
            #expect(try await journey.count("reminders.reminder") == 0)
        }
        for index in [0, 1] { await fleet[index].process.thaw() }
    }

    /// Waits until `count` reminders are delivered, no others exist, and no delivery waits for a provider. Only the
    /// ends of matches' rooms are still due.
    private static func waitUntilDelivered(_ count: Int, in journey: Journey) async throws {
        try await journey.wait(
            until: """
                (SELECT count(*) FROM reminders.reminder WHERE state = 'delivered') = \(count)
                AND NOT EXISTS (SELECT FROM core.delivery WHERE urgent)
                """)
        #expect(try await journey.count("reminders.reminder") == count)
    }
}
