import Domain
import Postgres
import ScheduleTestSupport
import Testing

@testable import Schedule

@Suite struct ScheduleZoneTests {
    struct Case: Sendable {
        let zone: String
        let day: String
        let time: String
        /// The expected start; `nil` if the request is refused because of `member`.
        let startsAt: String?
        var member = "startTime"
    }

    static let cases = [
        // Vancouver, at the beginning and the end of summer time.
        Case(zone: "America/Vancouver", day: "2025-03-09T08:00:00Z", time: "09:00", startsAt: "2025-03-09T16:00:00Z"),
        Case(zone: "America/Vancouver", day: "2025-03-09", time: "09:00", startsAt: "2025-03-09T16:00:00Z"),
        Case(zone: "America/Vancouver", day: "2025-03-09", time: "02:30", startsAt: nil),
        Case(zone: "America/Vancouver", day: "2025-03-09", time: "03:00", startsAt: "2025-03-09T10:00:00Z"),
        Case(zone: "America/Vancouver", day: "2025-11-02T07:00:00Z", time: "09:00", startsAt: "2025-11-02T17:00:00Z"),
        Case(zone: "America/Vancouver", day: "2025-11-02", time: "01:30", startsAt: "2025-11-02T08:30:00Z"),
        // London.
        Case(zone: "Europe/London", day: "2025-03-30", time: "01:15", startsAt: nil),
        Case(zone: "Europe/London", day: "2025-03-30T00:00:00Z", time: "09:00", startsAt: "2025-03-30T08:00:00Z"),
        Case(zone: "Europe/London", day: "2025-10-26", time: "01:30", startsAt: "2025-10-26T00:30:00Z"),
        Case(zone: "Europe/London", day: "2025-10-25T23:00:00Z", time: "08:00", startsAt: "2025-10-26T08:00:00Z"),
        // Lord Howe's clocks change by half an hour.
        Case(zone: "Australia/Lord_Howe", day: "2025-10-05", time: "02:15", startsAt: nil),
        Case(zone: "Australia/Lord_Howe", day: "2025-10-05", time: "09:00", startsAt: "2025-10-04T22:00:00Z"),
        Case(zone: "Australia/Lord_Howe", day: "2025-04-06", time: "01:45", startsAt: "2025-04-05T14:45:00Z"),
        // Apia crossed the date line, so 2011-12-30 didn't exist there.
        Case(zone: "Pacific/Apia", day: "2011-12-30", time: "09:00", startsAt: nil),
        Case(zone: "Pacific/Apia", day: "2011-12-31", time: "09:00", startsAt: "2011-12-30T19:00:00Z"),
        Case(zone: "Pacific/Apia", day: "2011-12-30T10:00:00Z", time: "09:00", startsAt: "2011-12-30T19:00:00Z"),
        Case(zone: "Pacific/Apia", day: "2011-12-29T10:00:00Z", time: "09:00", startsAt: "2011-12-29T19:00:00Z"),
        // Havana's clocks change at midnight: it is skipped in spring, and comes twice in autumn.
        Case(zone: "America/Havana", day: "2025-03-09T05:00:00Z", time: "09:00", startsAt: "2025-03-09T13:00:00Z"),
        Case(zone: "America/Havana", day: "2025-03-09", time: "00:30", startsAt: nil),
        Case(zone: "America/Havana", day: "2025-11-02T04:00:00Z", time: "09:00", startsAt: "2025-11-02T14:00:00Z"),
        Case(zone: "America/Havana", day: "2025-11-02", time: "00:30", startsAt: "2025-11-02T04:30:00Z"),
        // PostgreSQL's AT TIME ZONE treats these names as abbreviations without summer time.
        Case(zone: "CET", day: "2026-07-01", time: "09:00", startsAt: "2026-07-01T07:00:00Z"),
        Case(zone: "CET", day: "2026-01-15", time: "09:00", startsAt: "2026-01-15T08:00:00Z"),
        Case(zone: "CET", day: "2026-06-30T22:00:00Z", time: "09:00", startsAt: "2026-07-01T07:00:00Z"),
        Case(zone: "CET", day: "2026-03-29", time: "02:30", startsAt: nil),
        Case(zone: "MET", day: "2026-07-01", time: "09:00", startsAt: "2026-07-01T07:00:00Z"),
        Case(zone: "EET", day: "2026-07-01", time: "09:00", startsAt: "2026-07-01T06:00:00Z"),
        Case(zone: "WET", day: "2026-07-01", time: "09:00", startsAt: "2026-07-01T08:00:00Z"),
        Case(zone: "EST", day: "2026-07-01", time: "09:00", startsAt: "2026-07-01T14:00:00Z"),
        // A phone with newer rules sends a midnight that is an hour off, and its nine o'clock is an hour off too.
        Case(zone: "Europe/London", day: "2025-06-01T00:00:00Z", time: "09:00", startsAt: "2025-06-01T09:00:00Z"),
        Case(zone: "Europe/London", day: "2025-06-01T02:00:00Z", time: "09:00", startsAt: "2025-06-01T11:00:00Z"),
        Case(
            zone: "Europe/London", day: "2025-06-01T02:00:01Z", time: "09:00", startsAt: nil, member: "timeZone"),
        Case(
            zone: "Asia/Tokyo", day: "2025-06-01T00:00:00Z", time: "09:00", startsAt: nil, member: "timeZone"),
    ]

    @Test("A requested clock time becomes the instant of the zone's clocks")
    func requests() async throws {
        // All cases share one database, because making one takes longer than all cases.
        try await ScheduleDatabase.with(now: nil) { database in
            for request in Self.cases {
                let now = request.startsAt.flatMap { Instant($0) }.map {
                    Instant(seconds: $0.seconds - 86_400).description
                }
                try await database.setClock(now ?? "2025-01-01T00:00:00Z")
                let outcome = try await database.register("a", day: request.day, time: request.time, zone: request.zone)
                if let startsAt = request.startsAt {
                    #expect(outcome.task?.startsAt.description == startsAt, "\(request)")
                    #expect(outcome.task?.startTime == request.time, "\(request)")
                    let slot = try ScheduleDatabase.request(
                        "a", day: request.day, time: request.time, zone: request.zone)
                    #expect(try await database.schedule.cancel(.slot(slot)).code == "cancelled", "\(request)")
                } else {
                    #expect(outcome.refusal?.code == "invalid_request", "\(request)")
                    #expect(outcome.refusal?.reason.hasPrefix(request.member) == true, "\(request)")
                }
            }
        }
    }

    @Test("The database's zones are IANA's names")
    func names() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let zones = try await database.schedule.timeZoneNames()
            for name in ["UTC", "Europe/London", "America/Vancouver", "Asia/Kolkata"] {
                #expect(zones.spelling(of: name) == name)
                #expect(zones.spelling(of: name.uppercased()) == name)
            }
            for name in ["UTC+9", "PST", "Foo5", "Factory", "localtime", "posixrules", "posix/UTC"] {
                #expect(zones.spelling(of: name) == nil)
            }
        }
    }

    @Test("Every zone is read as in its file, week by week")
    func files() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            // Returns the names that `zone_rules` reads differently from `SET TIME ZONE`, which knows no abbreviations.
            // All names of `zone_names()` are tried.
            try await database.run(
                """
                CREATE FUNCTION letsswitch.test_misread() RETURNS SETOF text
                LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
                DECLARE
                    v_name text;
                BEGIN
                    FOR v_name IN SELECT name FROM schedule.zone_names() AS name LOOP
                        PERFORM set_config('TimeZone', v_name, true);
                        IF EXISTS (
                            SELECT FROM generate_series(
                                timestamp '2025-01-01', timestamp '2029-01-01', interval '7 days') AS wall
                            WHERE wall AT TIME ZONE schedule.zone_rules(v_name) <> wall::timestamptz
                        ) THEN RETURN NEXT v_name; END IF;
                    END LOOP;
                END
                $$
                """)
            let misread = try await database.run("SELECT name FROM letsswitch.test_misread() AS name")
            #expect(try misread.map { try $0.string("name") } == [])
            #expect(try await database.schedule.timeZoneNames().count > 400)
        }
    }

    @Test("A zone whose name is also an abbreviation has its summer time")
    func abbreviatedDay() async throws {
        try await ScheduleDatabase.with(now: "2026-06-30T12:00:00Z") { database in
            _ = try await database.register("a", day: "2026-07-01", time: "09:00", zone: "CET", title: "History")
            for zone in [nil, "CET", "Europe/Paris"] {
                #expect(try await database.day("a", "2026-07-01", zone: zone).slot("09:00")?.title == "History")
            }
            #expect(try await database.day("a", "2026-07-01", zone: "UTC").slot("09:00")?.hasOwnTask == false)
        }
    }

    @Test("A zone that a system update removed is refused by name")
    func vanished() async throws {
        try await ScheduleDatabase.with(now: "2026-06-30T12:00:00Z") { database in
            let task = try #require(
                try await database.register("a", "2026-07-01T09:00:00Z", zone: "Europe/London").task)
            try await database.run("UPDATE schedule.task SET time_zone = 'Nowhere/Gone'")
            #expect(try await database.day("a", "2026-07-01").slot("09:00")?.id == task.id)
            let midnight = try await database.day("a", "2026-07-01T00:00:00Z", everything: true)
            #expect(midnight.slots.count == 16 && midnight.slot("09:00")?.title == "History")
            // Other users see the slot and can join it. The task's title can be changed, and the task is found by its
            // instant.
            #expect(try await database.register("b", "2026-07-01T09:00:00Z", "Maths").task?.isPaired == true)
            #expect(try await database.register("a", "2026-07-01T09:00:00Z", "Art").task?.timeZone == "Nowhere/Gone")
            // The daemon may have read the zone names before.
            await #expect(throws: RequestError.self) { try await database.day("a", "2026-07-01", zone: "Nowhere/Gone") }
            await #expect(throws: RequestError.self) {
                try await database.register("c", "2026-07-01T09:00:00Z", zone: "Nowhere/Gone")
            }
        }
    }
}
