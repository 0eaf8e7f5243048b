package import Dispatch

// Numbers that somebody else counted: the database, or who notifies through it. A `Double` holds what neither a duration nor
// an integer has room for, and the conversions that the language has end the process then.

extension Duration {
    private static let longest = 1e12

    /// Within some 30,000 years, the nearest to what was meant; zero for what is no number.
    package static func seconds(saturating seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        return .seconds(min(max(seconds, -longest), longest))
    }

    /// The duration in nanoseconds, at least 0 and at most `UInt64.max`.
    package var wholeNanoseconds: UInt64 {
        UInt64(clamping: attoseconds / 1_000_000_000)
    }

    /// The duration in milliseconds, rounded up, and at least 0: who waits so long doesn't wake too early.
    package var wholeMilliseconds: Int {
        let (milliseconds, rest) = wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return Int(milliseconds) + (rest == 0 ? 0 : 1)
    }

    /// For Dispatch's timers; what is negative counts as zero, and what is too long for them never comes.
    package var dispatchInterval: DispatchTimeInterval {
        Int(exactly: wholeNanoseconds).map { .nanoseconds($0) } ?? .never
    }
}

extension Int {
    /// Towards zero, the nearest that there is; zero for what is no number.
    package init(saturating number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
