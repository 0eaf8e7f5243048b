import Glibc

/// A simple, independent parser of dates and times, with a regular expression and the C library's calendar.
enum PlainTimes {
    /// Returns the seconds since 1970 of a text such as `2026-11-22T09:00:00+01:00`.
    static func instant(_ text: String) -> Int? {
        let form = /([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[Zz]|([-+])([0-9]{2}):([0-9]{2}))/
        guard let match = text.wholeMatch(of: form), let day = date(String(match.1)),
            let time = wallTime(String(match.2))
        else { return nil }
        let hours = match.4.flatMap { Int($0) } ?? 0
        let minutes = match.5.flatMap { Int($0) } ?? 0
        guard hours < 24, minutes < 60 else { return nil }
        return day * 86_400 + time - (match.3 == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }

    /// Returns the days since 1970 of a text such as `2026-11-22`.
    static func date(_ text: String) -> Int? {
        guard let match = text.wholeMatch(of: /([0-9]{4})-([0-9]{2})-([0-9]{2})/), let year = Int32(match.1), year > 0,
            let month = Int32(match.2), let day = Int32(match.3)
        else { return nil }
        var fields = tm()
        (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year - 1900, month - 1, day)
        let seconds = timegm(&fields)
        // The C library changes a day that doesn't exist into another one.
        guard (fields.tm_year, fields.tm_mon, fields.tm_mday) == (year - 1900, month - 1, day) else { return nil }
        return seconds / 86_400
    }

    /// Returns the seconds since midnight of `09:00`, or `09:00:30`.
    static func wallTime(_ text: String) -> Int? {
        guard let match = text.wholeMatch(of: /([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?/), let hour = Int(match.1),
            let minute = Int(match.2), let second = Int(match.3 ?? "0"), hour < 24, minute < 60, second < 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }
}
