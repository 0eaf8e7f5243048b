import Domain
import Testing

@testable import Scheduling

@Suite struct RequestedDayTests {
    @Test("A day is a midnight or a plain date")
    func aDayIsAMidnightOrAPlainDate() {
        #expect(RequestedDay("2026-11-22") == .date(CalendarDate(days: 20_779)))
        #expect(RequestedDay("2026-11-22T00:00:00Z") == .midnight(Instant(seconds: 20_779 * 86_400)))
        #expect(RequestedDay("2026-02-30") == nil)
        #expect(RequestedDay("tomorrow") == nil)
    }

    @Test("Zone names that aren't IANA's are excluded")
    func zoneNamesThatArentIANAsAreLeftOut() {
        let zones = TimeZoneNames(["Europe/London", "UTC", "posix/UTC", "posixrules", "localtime", "Factory"])
        #expect(zones.count == 2)
        #expect(zones.contains("Europe/London"))
        #expect(!zones.contains("europe/london"))
        #expect(!zones.contains("localtime"))
        // To Swift's strings a Kelvin sign is a K.
        #expect(!TimeZoneNames(["Asia/Kolkata"]).contains("Asia/\u{212A}olkata"))
    }
}
