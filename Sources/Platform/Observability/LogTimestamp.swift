import Basics
import Glibc

/// A wall-clock time with milliseconds, such as `2026-11-22T08:59:00.012Z`. It is formatted without a library.
struct LogTimestamp: Sendable, Equatable {
    let seconds: Int64
    /// The nanoseconds within the second: 0 ..< 1,000,000,000.
    let nanoseconds: Int64

    static func now() -> LogTimestamp {
        var time = timespec()
        // CLOCK_REALTIME always exists. If the call failed, the line would have a time of 1970.
        clock_gettime(CLOCK_REALTIME, &time)
        return LogTimestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    private var utc: UTCTime { UTCTime(seconds: Int(seconds)) }

    func appendDate(to line: inout [UInt8]) {
        line.append(utc.date)
    }

    func appendTime(to line: inout [UInt8]) {
        line.append(time: utc.secondOfDay)
        line.append(UInt8(ascii: "."))
        line.append(Int(nanoseconds / 1_000_000), digits: 3)
    }
}
