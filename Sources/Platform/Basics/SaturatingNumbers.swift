package import Dispatch

// Conversions of numbers from outside: from the database, or from a notification. A `Double` may be too large for a
// duration or an integer, and the conversions of the language end the process then.

extension Duration {
    private static let longest = 1e12

    /// Returns the nearest duration within about 30,000 years, or zero for NaN.
    package static func seconds(saturating seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        return .seconds(min(max(seconds, -longest), longest))
    }

    /// The duration in nanoseconds, at least 0 and at most `UInt64.max`.
    package var wholeNanoseconds: UInt64 {
        UInt64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in milliseconds, rounded up, and at least 0. A wait of that length doesn't end too early.
    package var wholeMilliseconds: Int {
        let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Int(milliseconds) + (rest == 0 ? 0 : 1)
    }

    /// The interval for Dispatch timers. A negative duration is zero, and one that is too long is `.never`.
    package var dispatchInterval: DispatchTimeInterval {
        Int(exactly: wholeNanoseconds).map { .nanoseconds($0) } ?? .never
    }
}

extension Int {
    /// Rounds towards zero, to the nearest representable integer. NaN becomes zero.
    package init(saturating number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
