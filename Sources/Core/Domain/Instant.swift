import Basics

/// A point in time, to the second. Slots are instants.
package struct Instant: Hashable, Sendable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, without leap seconds.
    package let seconds: Int

    package init(seconds: Int) {
        self.seconds = seconds
    }

    /// Reads RFC 3339 §5.6, such as `2026-11-22T09:00:00Z` or `2026-11-22T10:00:00.250+01:00`. A fraction of a second
    /// is cut off. Returns nil for anything else, for a leap second, and for a year outside 1 to 9999.
    package init?(_ text: String) {
        var digits = DigitReader(text)
        guard let date = CalendarDate(reading: &digits), digits.skip("T", or: "t"),
            let hour = digits.number(2, 0...23), digits.skip(":"),
            let minute = digits.number(2, 0...59), digits.skip(":"),
            let second = digits.number(2, 0...59), digits.skipFraction(),
            let offset = Self.offset(&digits), digits.isAtEnd
        else { return nil }
        seconds = date.days * 86_400 + hour * 3600 + minute * 60 + second - offset
    }

    /// Parses `Z` or `+HH:MM`, and returns the offset in seconds.
    private static func offset(_ digits: inout DigitReader) -> Int? {
        if digits.skip("Z", or: "z") { return 0 }
        let sign = digits.skip("+") ? 1 : -1
        guard sign == 1 || digits.skip("-"), let hours = digits.number(2, 0...23), digits.skip(":"),
            let minutes = digits.number(2, 0...59)
        else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }

    package static func < (left: Instant, right: Instant) -> Bool { left.seconds < right.seconds }
}

extension Instant {
    /// The seconds of the years 1 to 9999, which RFC 3339 can write.
    private static let written = -62_135_596_800...253_402_300_799

    /// Creates an instant from a number that comes from outside. Nil for a year outside 1 to 9999, because sums with
    /// it could overflow.
    package init?(checked seconds: Int) {
        guard Self.written.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    /// Creates the second that contains an epoch time with fractions. Nil if the time isn't finite or is far outside
    /// all calendars.
    package init?(epoch: Double) {
        guard epoch.magnitude < 1e15 else { return nil }
        seconds = Int(epoch.rounded(.down))
    }
}

extension Instant: CustomStringConvertible {
    /// The instant in the form `2026-11-22T09:00:00Z`.
    package var description: String { UTCTime(seconds: seconds).description }
}
