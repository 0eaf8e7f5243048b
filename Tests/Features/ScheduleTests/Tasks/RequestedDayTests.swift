import Domain
import Testing

@testable import Schedule

@Suite struct RequestedDayTests {
    @Test("A day is a midnight or a plain date")
    func dayIsMidnightOrPlainDate() {
        #expect(RequestedDay("2026-11-22") == .date(CalendarDate(days: 20_779)))
        #expect(RequestedDay("2026-11-22T00:00:00Z") == .midnight(Instant(seconds: 20_779 * 86_400)))
        #expect(RequestedDay("2026-02-30") == nil)
        #expect(RequestedDay("tomorrow") == nil)
    }

    @Test("Zone names that aren't IANA's are excluded")
    func zoneNamesThatAreNotIANAsAreExcluded() {
        let zones = TimeZoneNames(["Europe/London", "UTC", "posix/UTC", "posixrules", "localtime", "Factory"])
        #expect(zones.count == 2)
        #expect(zones.spelling(of: "Europe/London") == "Europe/London")
        for name in ["localtime", "posix/UTC", "posixrules", "Factory"] { #expect(zones.spelling(of: name) == nil) }
    }

    @Test("A zone's case doesn't matter")
    func zoneNamesIgnoreCase() {
        let zones = TimeZoneNames(["Asia/Kolkata", "Etc/GMT+8"])
        for name in ["asia/kolkata", "ASIA/KOLKATA"] { #expect(zones.spelling(of: name) == "Asia/Kolkata") }
        #expect(zones.spelling(of: "etc/gmt+8") == "Etc/GMT+8")
        // The lowercase form of a Kelvin sign is a k.
        #expect(zones.spelling(of: "Asia/\u{212A}olkata") == nil)
    }
}
