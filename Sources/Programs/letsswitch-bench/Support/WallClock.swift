// In a whole-module build, `timespec` comes from CLinux.
import CLinux
import Glibc

/// The time of day. Due instants are given in it.
enum WallClock {
    /// Returns the time in epoch seconds.
    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// Formats instants and dates in UTC (Howard Hinnant's civil_from_days).
enum UTCText {
    static let day = 86_400

    /// Formats a date as `2026-11-22`.
    static func date(_ epoch: Int) -> String {
        let days = epoch / day + 719_468
        let era = days / 146_097
        let dayOfEra = days % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return "\(year)-\(two(month))-\(two(dayOfYear - (153 * shifted + 2) / 5 + 1))"
    }

    /// Formats an instant as `2026-11-22T09:00:00Z`.
    static func instant(_ epoch: Int) -> String {
        let second = epoch % day
        return "\(date(epoch))T\(two(second / 3_600)):\(two(second / 60 % 60)):\(two(second % 60))Z"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
