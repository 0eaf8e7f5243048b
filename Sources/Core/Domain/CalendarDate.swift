import Basics

/// A date of the Gregorian calendar, without a time zone.
package struct CalendarDate: Hashable, Sendable {
    /// Days since 1970-01-01.
    package let days: Int

    package init(days: Int) {
        self.days = days
    }

    /// Parses `2026-11-22`, in the years 1 to 9999. Nil for anything else, including `2026-02-30`.
    package init?(_ text: String) {
        var digits = DigitReader(text)
        self.init(reading: &digits)
        guard digits.isAtEnd else { return nil }
    }

    init?(reading digits: inout DigitReader) {
        guard let year = digits.number(4, 1...9999), digits.skip("-"),
            let month = digits.number(2, 1...12), digits.skip("-"),
            let day = digits.number(2, 1...31)
        else { return nil }
        let date = CivilDate(year: year, month: month, day: day)
        days = date.days
        // An invalid day becomes a day of the next month.
        guard CivilDate(days: days) == date else { return nil }
    }
}

extension CalendarDate: CustomStringConvertible {
    /// The date in the form `2026-11-22`.
    package var description: String { CivilDate(days: days).description }
}

/// A time of day on the clock: `09:00`, or `09:00:30`.
package struct WallTime: Hashable, Sendable {
    /// The time that a clock shows, in seconds from 0 to 86,399. If the clock is changed on that day, this isn't the
    /// time since midnight.
    package let seconds: Int

    /// - Parameter seconds: 0 to 86,399.
    package init(seconds: Int) {
        self.seconds = seconds
    }

    /// Parses `HH:MM` or `HH:MM:SS`. Nil for anything else, including `24:00`.
    package init?(_ text: String) {
        var digits = DigitReader(text)
        guard let hour = digits.number(2, 0...23), digits.skip(":"), let minute = digits.number(2, 0...59) else {
            return nil
        }
        var second = 0
        if digits.skip(":") {
            guard let shown = digits.number(2, 0...59) else { return nil }
            second = shown
        }
        guard digits.isAtEnd else { return nil }
        seconds = hour * 3600 + minute * 60 + second
    }
}

extension WallTime: CustomStringConvertible {
    /// The time in the form `09:00`, or `09:00:30` with seconds.
    package var description: String {
        var text: [UInt8] = []
        text.append(time: seconds, withSeconds: seconds % 60 != 0)
        return String(decoding: text, as: UTF8.self)
    }
}

/// Parses numbers of fixed width and the characters between them, from the left.
struct DigitReader {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// Parses exactly `width` ASCII digits whose number is in `range`.
    mutating func number(_ width: Int, _ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix(width)
        guard digits.count == width, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard range.contains(number) else { return nil }
        rest = rest.dropFirst(width)
        return number
    }

    /// Skips a fraction if there is one: a point and at least one digit. Returns `false` for a point without a digit.
    mutating func skipFraction() -> Bool {
        guard skip(".") else { return true }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        rest = rest.dropFirst(digits.count)
        return !digits.isEmpty
    }

    /// Skips the next character if it is `sign` or `other`. Returns whether it was.
    mutating func skip(_ sign: Unicode.Scalar, or other: Unicode.Scalar? = nil) -> Bool {
        guard let next = rest.first, next == UInt8(ascii: sign) || other.map({ next == UInt8(ascii: $0) }) == true
        else {
            return false
        }
        rest = rest.dropFirst()
        return true
    }
}
