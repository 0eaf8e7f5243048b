package import Dispatch

// Conversions of numbers from outside, such as from the database or a notification. A `Double` may be too large for a
// duration or an integer. The conversions of the Swift language then end the process.

extension Duration {
    private static let longest = 1e12

    /// Returns the nearest duration between -30,000 and 30,000 years, about. Returns zero for NaN.
    package static func seconds(saturating seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        return .seconds(min(max(seconds, -longest), longest))
    }

    /// The duration in nanoseconds, at least 0 and at most `UInt64.max`.
    package var wholeNanoseconds: UInt64 {
        UInt64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in milliseconds, rounded up, and at least 0. Because of the rounding, a wait doesn't end too early.
    package var wholeMilliseconds: Int {
        let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Int(milliseconds) + (rest == 0 ? 0 : 1)
    }

    /// The interval for a Dispatch timer. A negative duration becomes zero, and a too long one becomes `.never`.
    package var dispatchInterval: DispatchTimeInterval {
        Int(exactly: wholeNanoseconds).map { .nanoseconds($0) } ?? .never
    }
}

extension Int {
    /// Creates the nearest representable integer, rounding towards zero. NaN becomes zero.
    package init(saturating number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
