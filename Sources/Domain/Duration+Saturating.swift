// Numbers that somebody else counted: the database, or who notifies through it. A `Double` holds what neither a duration nor
// an integer has room for, and the conversions that the language has end the process then.

extension Duration {
    private static let longest = 1e12

    /// Within some 30,000 years, the nearest to what was meant; zero for what is no number.
    package static func seconds(saturating seconds: Double) -> Duration {
        guard !seconds.isNaN else { return .zero }
        return .seconds(min(max(seconds, -longest), longest))
    }
}

extension Int {
    /// Towards zero, the nearest that there is; zero for what is no number.
    package init(saturating number: Double) {
        self = Int(exactly: number.rounded(.towardZero)) ?? (number.isNaN ? 0 : number < 0 ? .min : .max)
    }
}
