import Testing

@testable import LetsSwitch

@Suite struct ScheduleZoneTests {
    struct Case: Sendable {
        let zone: String
        let day: String
        let time: String
        /// Nil: refused, naming `member`.
        let startsAt: String?
        var member = "startTime"
    }

    static let cases = [
        // Vancouver, into and out of summer time.
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
        // Lord Howe's clocks move by half an hour.
        Case(zone: "Australia/Lord_Howe", day: "2025-10-05", time: "02:15", startsAt: nil),
        Case(zone: "Australia/Lord_Howe", day: "2025-10-05", time: "09:00", startsAt: "2025-10-04T22:00:00Z"),
        Case(zone: "Australia/Lord_Howe", day: "2025-04-06", time: "01:45", startsAt: "2025-04-05T14:45:00Z"),
        // Apia crossed the date line: 2011-12-30 was never.
        Case(zone: "Pacific/Apia", day: "2011-12-30", time: "09:00", startsAt: nil),
        Case(zone: "Pacific/Apia", day: "2011-12-31", time: "09:00", startsAt: "2011-12-30T19:00:00Z"),
        Case(zone: "Pacific/Apia", day: "2011-12-30T10:00:00Z", time: "09:00", startsAt: "2011-12-30T19:00:00Z"),
        Case(zone: "Pacific/Apia", day: "2011-12-29T10:00:00Z", time: "09:00", startsAt: "2011-12-29T19:00:00Z"),
        // Havana's clocks move at midnight: skipped in spring, twice in autumn.
        Case(zone: "America/Havana", day: "2025-03-09T05:00:00Z", time: "09:00", startsAt: "2025-03-09T13:00:00Z"),
        Case(zone: "America/Havana", day: "2025-03-09", time: "00:30", startsAt: nil),
        Case(zone: "America/Havana", day: "2025-11-02T04:00:00Z", time: "09:00", startsAt: "2025-11-02T14:00:00Z"),
        Case(zone: "America/Havana", day: "2025-11-02", time: "00:30", startsAt: "2025-11-02T04:30:00Z"),
        // A phone that knows newer rules: its midnight is an hour off, and so is its nine o'clock.
        Case(zone: "Europe/London", day: "2025-06-01T00:00:00Z", time: "09:00", startsAt: "2025-06-01T09:00:00Z"),
        Case(zone: "Europe/London", day: "2025-06-01T02:00:00Z", time: "09:00", startsAt: "2025-06-01T11:00:00Z"),
        Case(
            zone: "Europe/London", day: "2025-06-01T02:00:01Z", time: "09:00", startsAt: nil, member: "timeZone"),
        Case(
            zone: "Asia/Tokyo", day: "2025-06-01T00:00:00Z", time: "09:00", startsAt: nil, member: "timeZone"),
    ]

    @Test("a wish on the wall clock is the instant that the zone's clocks show")
    func wishes() async throws {
        // One database for all: making one takes longer than all the cases.
        try await ScheduleDatabase.with(now: nil) { database in
            for wish in Self.cases {
                let now = wish.startsAt.flatMap { Instant($0) }.map {
                    Instant(seconds: $0.seconds - 86_400).description
                }
                try await database.setClock(now ?? "2025-01-01T00:00:00Z")
                let outcome = try await database.register("a", day: wish.day, time: wish.time, zone: wish.zone)
                if let startsAt = wish.startsAt {
                    #expect(outcome.task?.startsAt.description == startsAt, "\(wish)")
                    #expect(outcome.task?.startTime == wish.time, "\(wish)")
                    let slot = try ScheduleDatabase.wish("a", day: wish.day, time: wish.time, zone: wish.zone)
                    #expect(try await database.schedule.cancel(.slot(slot)).code == "cancelled", "\(wish)")
                } else {
                    #expect(outcome.refusal?.code == "invalid_request", "\(wish)")
                    #expect(outcome.refusal?.reason.hasPrefix(wish.member) == true, "\(wish)")
                }
            }
        }
    }

    @Test("the zones of the database are IANA's names")
    func names() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let zones = try await database.schedule.timeZoneNames()
            for name in ["UTC", "Europe/London", "America/Vancouver", "Asia/Kolkata"] { #expect(zones.contains(name)) }
            for name in ["UTC+9", "PST", "Foo5", "Factory", "localtime", "posixrules", "posix/UTC", "europe/london"] {
                #expect(!zones.contains(name))
            }
        }
    }
}
