import JourneyTestSupport
import TestSupport
import Testing

/// Daemons of different builds on one database, which are upgraded one after the other.
@Suite struct DifferentBuildTests {
    @Test("A daemon that can't read another build's messages logs which daemon to upgrade")
    func languages() async throws {
        try await Journey.run { journey in
            let fleet = try await DaemonFleet.start(1, in: journey)
            let message = "cheers and presence don't pass between these builds: upgrade"
            for (host, language, upgrade) in [("newer", 1_000, "this daemon"), ("older", 0, "the other daemon")] {
                _ = try await journey.sql(
                    """
                    SELECT operations.beat(
                        gen_random_uuid(), '\(host)', '9.9', \(language), 'postgresql', '{}'::uuid[], '{}'::bigint[],
                        false, NULL, 0, 0)
                    """)
                try await fleet[0].process.waitForLog("\(message) \(upgrade)") { $0["host"].string == host }
            }
            // A payload that it can't read is skipped.
            _ = try await journey.sql("SELECT pg_notify('letsswitch_bus', 'what a later build would say')")
            try await DaemonFleet.wait(at: fleet.endpoints[0], others: 2)
        }
    }
}
