/// The date of a message as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let daysOfWeek: StaticString = "ThuFriSatSunMonTueWed"
    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"

    /// Returns 29 bytes for a time in seconds since 1970, in UTC. The format has four digits for the year, so a time
    /// outside of the years 1970 to 9999 becomes the nearest time within them.
    package static func format(epochSeconds: Int64) -> [UInt8] {
        let seconds = Int(min(max(epochSeconds, 0), 253_402_300_799))
        let days = seconds / 86_400
        let ofDay = seconds % 86_400
        let (year, month, day) = civil(daysSince1970: days)
        var text: [UInt8] = []
        text.reserveCapacity(29)
        text.append(contentsOf: name(days % 7, of: daysOfWeek))
        text.append(contentsOf: [UInt8(ascii: ","), ASCII.space])
        text.append(contentsOf: twoDigits(day))
        text.append(ASCII.space)
        text.append(contentsOf: name(month - 1, of: months))
        text.append(ASCII.space)
        text.append(contentsOf: twoDigits(year / 100) + twoDigits(year % 100))
        text.append(ASCII.space)
        text.append(contentsOf: twoDigits(ofDay / 3600))
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: twoDigits(ofDay / 60 % 60))
        text.append(UInt8(ascii: ":"))
        text.append(contentsOf: twoDigits(ofDay % 60))
        text.append(contentsOf: " GMT".utf8)
        return text
    }

    /// Returns a day's date in the proleptic Gregorian calendar. The computation uses years that begin in March. The
    /// leap day is then the last day of a year, and all eras of 400 years are alike.
    private static func civil(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func name(_ index: Int, of names: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(names).part(index * 3..<index * 3 + 3)
    }

    private static func twoDigits(_ value: Int) -> [UInt8] {
        [UInt8(ascii: "0") + UInt8(value / 10), UInt8(ascii: "0") + UInt8(value % 10)]
    }
}
