/// One value of an event. Never a secret.
package enum LogValue: Sendable, Equatable {
    case string(String)
    case int(Int)
    case double(Double)
    case bool(Bool)

    /// Milliseconds with a fraction; name the key `…_ms`.
    package static func milliseconds(_ duration: Duration) -> LogValue {
        let (seconds, attoseconds) = duration.components
        // Whole microseconds: more digits are noise in a log.
        return .double(Double(seconds) * 1e3 + Double(attoseconds / 1_000_000_000_000) / 1e3)
    }
}

extension LogValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int) { self = .int(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}
