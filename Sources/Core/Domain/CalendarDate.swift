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
        days = Self.days(year: year, month: month, day: day)
        // An invalid day becomes a day of the next month.
        guard components == (year, month, day) else { return nil }
    }

    /// Years are counted from March, so that the leap day is the last of a year. 400 years (an era) have 146,097 days.
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let era = marchYear.flooredQuotient(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private var components: (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }
}

extension CalendarDate: CustomStringConvertible {
    /// The date in the form `2026-11-22`.
    package var description: String {
        var digits = DigitWriter()
        write(to: &digits)
        return digits.text
    }

    func write(to digits: inout DigitWriter) {
        let (year, month, day) = components
        digits.number(year, 4)
        digits.sign("-")
        digits.number(month, 2)
        digits.sign("-")
        digits.number(day, 2)
    }
}

extension Int {
    /// Rounds towards minus infinity. `/` rounds towards zero.
    package func flooredQuotient(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
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
        var digits = DigitWriter()
        write(to: &digits, withSeconds: seconds % 60 != 0)
        return digits.text
    }

    func write(to digits: inout DigitWriter, withSeconds: Bool) {
        digits.number(seconds / 3600, 2)
        digits.sign(":")
        digits.number(seconds / 60 % 60, 2)
        guard withSeconds else { return }
        digits.sign(":")
        digits.number(seconds % 60, 2)
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

/// Writes numbers and the characters between them into one buffer. It must be fast, because each response contains
/// times.
struct DigitWriter {
    private var bytes: [UInt8] = []

    init() {
        // The length of an instant's text.
        bytes.reserveCapacity(20)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Writes at least `width` digits, with leading zeroes.
    mutating func number(_ number: Int, _ width: Int) {
        if number < 0 { sign("-") }
        var divisor: UInt = 1
        var places = 1
        while places < width || number.magnitude / divisor > 9 {
            divisor *= 10
            places += 1
        }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number.magnitude / divisor % 10))
            divisor /= 10
        }
    }

    mutating func sign(_ sign: Unicode.Scalar) {
        bytes.append(UInt8(ascii: sign))
    }
}
