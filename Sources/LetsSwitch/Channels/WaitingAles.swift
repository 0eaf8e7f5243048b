import Access
import Rooms

/// Ales that a subscription has yet to be sent. A value: they add up by their kind, and beyond ``CableLimits/waitingAles`` they are left out.
struct WaitingAles {
    /// None is zero.
    private var counts: [CheerKind: Int] = [:]

    var isEmpty: Bool { counts.isEmpty }

    /// A kind of which some wait.
    var first: CheerKind? { counts.first?.key }

    /// - Returns: How many are left out.
    mutating func add(_ count: Int, of kind: CheerKind) -> Int {
        let sum = (counts[kind] ?? 0) + count
        let kept = min(sum, CableLimits.waitingAles)
        if kept > 0 { counts[kind] = kept }
        return sum - kept
    }

    /// Takes as many as there are, at most `most` and at least one.
    mutating func take(_ most: Int, of kind: CheerKind) -> Int {
        guard let count = counts[kind] else { return 0 }
        let taken = min(count, max(1, most))
        counts[kind] = taken < count ? count - taken : nil
        return taken
    }
}
