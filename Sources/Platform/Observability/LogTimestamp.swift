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

    func appendDate(to line: inout [UInt8]) {
        // Converts days to a date, with eras of 400 years that begin on 1 March. The leap day is then the last day of a
        // year.
        let days = Self.floorDivide(seconds, 86_400) + 719_468
        let era = Self.floorDivide(days, 146_097)
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        Self.append(year, digits: 4, to: &line)
        line.append(UInt8(ascii: "-"))
        Self.append(month, digits: 2, to: &line)
        line.append(UInt8(ascii: "-"))
        Self.append(dayOfYear - (153 * marchMonth + 2) / 5 + 1, digits: 2, to: &line)
    }

    func appendTime(to line: inout [UInt8]) {
        let second = seconds - Self.floorDivide(seconds, 86_400) * 86_400
        Self.append(second / 3_600, digits: 2, to: &line)
        line.append(UInt8(ascii: ":"))
        Self.append(second / 60 % 60, digits: 2, to: &line)
        line.append(UInt8(ascii: ":"))
        Self.append(second % 60, digits: 2, to: &line)
        line.append(UInt8(ascii: "."))
        Self.append(nanoseconds / 1_000_000, digits: 3, to: &line)
    }

    private static func append(_ number: Int64, digits: Int, to line: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            line.append(UInt8(ascii: "0") + UInt8(number.magnitude / divisor.magnitude % 10))
            divisor /= 10
        }
    }

    private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
        a >= 0 ? a / b : (a + 1) / b - 1
    }
}
