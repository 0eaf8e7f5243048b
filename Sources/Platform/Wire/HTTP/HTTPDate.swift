import Basics

/// The date of a message as an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
package enum HTTPDate {
    private static let daysOfWeek: StaticString = "ThuFriSatSunMonTueWed"
    private static let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"

    /// Returns 29 bytes for a time in seconds since 1970, in UTC. The format has four digits for the year, so a time
    /// outside of the years 1970 to 9999 becomes the nearest time within them.
    package static func format(epochSeconds: Int64) -> [UInt8] {
        let time = UTCTime(seconds: Int(min(max(epochSeconds, 0), 253_402_300_799)))
        let date = time.date
        var text: [UInt8] = []
        text.reserveCapacity(29)
        text.append(contentsOf: name(time.days % 7, of: daysOfWeek))
        text.append(UInt8(ascii: ","))
        text.append(ASCII.space)
        text.append(date.day, digits: 2)
        text.append(ASCII.space)
        text.append(contentsOf: name(date.month - 1, of: months))
        text.append(ASCII.space)
        text.append(date.year, digits: 4)
        text.append(ASCII.space)
        text.append(time: time.secondOfDay)
        text.append(contentsOf: " GMT".utf8)
        return text
    }

    private static func name(_ index: Int, of names: StaticString) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(names).part(index * 3..<index * 3 + 3)
    }
}
