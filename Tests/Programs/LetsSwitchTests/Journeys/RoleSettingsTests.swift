import Domain
import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// A daemon whose database role has settings that differ from PostgreSQL's defaults.
@Suite struct RoleSettingsTests {
    private static let settings = [
        "extra_float_digits = -10", "TimeZone = 'Asia/Kathmandu'", "DateStyle = 'German, DMY'",
        "IntervalStyle = 'sql_standard'", "bytea_output = 'escape'", "standard_conforming_strings = off",
        "timezone_abbreviations = 'India'", "session_replication_role = 'replica'", "lock_timeout = '1ms'",
        "search_path = ''",
    ]

    @Test("Registrations, reminders and answers are right to the second if the role has settings of its own")
    func seconds() async throws {
        try await Journey.run { journey in
            for setting in Self.settings {
                try await TestCluster.execute(
                    """
                    DO $do$ BEGIN
                        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET ', current_user, current_database())
                            || $set$\(setting)$set$;
                    END $do$
                    """, journey.conninfo)
            }
            let endpoint = try await journey.daemon()
            let start = Instant(seconds: try await journey.instant(in: 7_200).seconds + 17)
            let own = try await endpoint.register("ada", start, zone: "Asia/Kolkata")
            let partner = try await endpoint.register("bob", start, "Maths", zone: "America/Vancouver")
            #expect(own.startsAt == Date(timeIntervalSince1970: Double(start.seconds)))
            #expect(partner.isPaired && partner.socketId == own.socketId)
            let early = try await endpoint.get(ClientEndpoint.room(own.socketId))
            #expect(try early.json()["opensAt"] == "\(Instant(seconds: start.seconds - 60))")

            let stream = try await endpoint.reminders(of: "ada")
            try await journey.advance(to: start, -61)
            #expect(try await endpoint.status(of: own.socketId) == 403)
            try await journey.advance(to: start, -60)
            let reminder = try await stream.nextReminder()
            #expect(reminder.startsAt == Date(timeIntervalSince1970: Double(start.seconds)))
            #expect(try await endpoint.status(of: own.socketId) == 101)
        }
    }
}
