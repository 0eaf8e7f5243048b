import Basics
import Glibc
import LetsSwitchClient

/// A start time: `09:00` or `09:00:30` by the wall clock, or an instant such as `2026-11-22T09:00:00Z`.
enum WallTime: Equatable {
    case clock(text: String, seconds: Int)
    case instant(String)

    init(_ text: String) throws(UsageError) {
        // A fraction and an offset are allowed (RFC 3339 §5.6). The server checks whether the day exists.
        if text.wholeMatch(
            of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})/) != nil
        {
            self = .instant(text)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { part in
            part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        guard (2...3).contains(parts.count), let hour = parts[0], let minute = parts[1], hour < 24, minute < 60,
            let second = parts.count == 3 ? parts[2] : 0, second < 60
        else {
            throw UsageError(reason: "--at must be a time such as 09:00, 09:00:30 or 2026-11-22T09:00:00Z, not \(text)")
        }
        self = .clock(text: text, seconds: hour * 3600 + minute * 60 + second)
    }

    /// Returns the next day on which a clock in this zone shows `seconds` after midnight. The zone must have a file.
    /// Otherwise the C library would compute in UTC.
    static func day(of seconds: Int, zone: String, now: Int) -> String {
        setenv("TZ", ":" + zone, 1)
        tzset()
        func local(_ time: Int) -> tm {
            var time = time
            var parts = tm()
            localtime_r(&time, &parts)
            return parts
        }
        var parts = local(now)
        let today = Int(parts.tm_hour) * 3600 + Int(parts.tm_min) * 60 + Int(parts.tm_sec)
        if seconds <= today {
            // The clocks may change at night, but noon of the next day exists.
            parts.tm_hour = 12
            parts.tm_mday += 1
            parts.tm_isdst = -1
            parts = local(mktime(&parts))
        }
        let date = CivilDate(
            year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday))
        return date.description
    }
}
