/// A date of the Gregorian calendar, which is also used for the centuries before its introduction.
package struct CivilDate: Equatable, Sendable {
    package let year: Int
    /// The month, from 1 to 12.
    package let month: Int
    package let day: Int

    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// - Parameter days: The days since 1970-01-01.
    package init(days: Int) {
        // Years are counted from March, so that the leap day is the last of a year. 400 years (an era) have 146,097
        // days.
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(by: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    }

    /// The days since 1970-01-01. A day after the end of its month counts as a day of the next month.
    package var days: Int {
        let marchYear = month > 2 ? year : year - 1
        let era = marchYear.flooredQuotient(by: 400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// A time in UTC, as a date and a time of day.
package struct UTCTime: Sendable {
    /// The days since 1970-01-01.
    package let days: Int
    /// The seconds since midnight, from 0 to 86,399.
    package let secondOfDay: Int

    /// - Parameter seconds: The seconds since 1970-01-01T00:00:00Z.
    package init(seconds: Int) {
        days = seconds.flooredQuotient(by: 86_400)
        secondOfDay = seconds - days * 86_400
    }

    package var date: CivilDate { CivilDate(days: days) }
}

extension UTCTime: CustomStringConvertible {
    /// The time in the form `2026-11-22T09:00:00Z`.
    package var description: String {
        var text: [UInt8] = []
        text.reserveCapacity(20)
        text.append(date)
        text.append(UInt8(ascii: "T"))
        text.append(time: secondOfDay)
        text.append(UInt8(ascii: "Z"))
        return String(decoding: text, as: UTF8.self)
    }
}

extension CivilDate: CustomStringConvertible {
    /// The date in the form `2026-11-22`.
    package var description: String {
        var text: [UInt8] = []
        text.append(self)
        return String(decoding: text, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends a date in the form `2026-11-22`.
    package mutating func append(_ date: CivilDate) {
        append(date.year, digits: 4)
        append(UInt8(ascii: "-"))
        append(date.month, digits: 2)
        append(UInt8(ascii: "-"))
        append(date.day, digits: 2)
    }

    /// Appends a time of day in the form `09:00:00`, or `09:00`.
    ///
    /// - Parameter seconds: The seconds since midnight.
    package mutating func append(time seconds: Int, withSeconds: Bool = true) {
        append(seconds / 3600, digits: 2)
        append(UInt8(ascii: ":"))
        append(seconds / 60 % 60, digits: 2)
        guard withSeconds else { return }
        append(UInt8(ascii: ":"))
        append(seconds % 60, digits: 2)
    }

    /// Appends at least `digits` digits, with leading zeroes.
    package mutating func append(_ number: Int, digits: Int) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(magnitude: number.magnitude, digits)
    }

    private mutating func append(magnitude: UInt, _ digits: Int) {
        if digits > 1 || magnitude > 9 { append(magnitude: magnitude / 10, digits - 1) }
        append(UInt8(ascii: "0") + UInt8(magnitude % 10))
    }
}

extension Int {
    /// Rounds towards minus infinity. `/` rounds towards zero.
    package func flooredQuotient(by divisor: Int) -> Int {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
