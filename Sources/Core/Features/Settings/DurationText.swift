/// The format of durations in settings: `90s`, `5m`, `1h`, `30d`, plain seconds, or a fraction of any (`0.5`, `1.5h`).
package enum DurationText {
    private static let units: [(suffix: Character, seconds: Int64)] = [
        ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1),
    ]
    /// The maximum number of digits. Nine digits of seconds are thirty years, and no product below can overflow.
    private static let maxDigits = 9
    private static let attosecondsPerSecond: Int64 = 1_000_000_000_000_000_000

    /// - Throws: ``InvalidValue`` unless the text is digits with at most one point and an optional unit.
    package static func parse(_ text: String) throws(InvalidValue) -> Duration {
        var digits = text[...]
        var unit: Int64 = 1
        if let last = digits.last, let known = units.first(where: { $0.suffix == last }) {
            unit = known.seconds
            digits = digits.dropLast()
        }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first.flatMap(number), let fraction = parts.count > 1 ? number(parts[1]) : 0 else {
            throw InvalidValue(text, "must be a duration: seconds, or 90s, 5m, 1h, 30d")
        }
        var nanoseconds = fraction
        for _ in (parts.count > 1 ? parts[1].count : maxDigits)..<maxDigits { nanoseconds *= 10 }
        return .seconds(whole * unit) + .nanoseconds(nanoseconds * unit)
    }

    private static func number(_ digits: Substring) -> Int64? {
        guard (1...maxDigits).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int64(digits)
    }

    /// Returns the shortest text: the largest unit without a fraction, otherwise seconds with a fraction.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        guard attoseconds != 0 else {
            let unit = units.first { seconds != 0 && seconds % $0.seconds == 0 } ?? (suffix: "s", seconds: 1)
            return "\(seconds / unit.seconds)\(unit.suffix)"
        }
        // Adding 10^18 keeps the leading zeros of the fraction, as the digits after a 1.
        var fraction = String(attosecondsPerSecond + attoseconds).dropFirst()
        while fraction.last == "0" { fraction.removeLast() }
        return "\(seconds).\(fraction)s"
    }
}
