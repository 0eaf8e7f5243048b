package import Domain

/// The slots of whose changes a stream's reader wants to know. Changes of the device's own tasks it is told of wherever they
/// are.
package enum ChangeWindow: Hashable, Sendable {
    /// From yesterday to the day after tomorrow, at whatever time it is: for readers that name no days.
    case near
    /// None but of its device's own tasks.
    case own
    case between(Instant, Instant)

    /// Days behind and ahead of now that are near, so that today and tomorrow are, in every time zone.
    static let nearSeconds = -86_400..<2 * 86_400
    /// The longest that may be asked for. Seconds: a month and a day.
    static let maximumSpan = 32 * 86_400

    /// From the parameters of a request: both, or neither.
    ///
    /// - Throws: `invalid_request`, naming the one at fault.
    init(from: String?, to: String?) throws(RequestError) {
        guard from != nil || to != nil else {
            self = .near
            return
        }
        let first = try Self.instant(from, "from")
        let end = try Self.instant(to, "to")
        guard first < end else { throw .invalid("to", "must be later than from") }
        guard end.seconds - first.seconds <= Self.maximumSpan else {
            throw .invalid("to", "must be at most 32 days after from")
        }
        self = .between(first, end)
    }

    private static func instant(_ text: String?, _ name: String) throws(RequestError) -> Instant {
        guard let text else { throw .invalid(name, "is missing") }
        guard let instant = Instant(text) else {
            throw .invalid(name, "must be an instant like 2026-11-22T00:00:00Z")
        }
        return instant
    }

    /// The slots that it holds, of those that are in order, at `now`.
    func range(in slots: [Instant], at now: Instant) -> Range<Int> {
        let (first, end) = bounds(at: now)
        let begin = slots.partitioningIndex { $0 >= first }
        return begin..<max(begin, slots.partitioningIndex { $0 >= end })
    }

    func contains(_ slot: Instant, at now: Instant) -> Bool {
        let (first, end) = bounds(at: now)
        return first <= slot && slot < end
    }

    private func bounds(at now: Instant) -> (Instant, Instant) {
        switch self {
        case .near:
            (
                Instant(seconds: now.seconds + Self.nearSeconds.lowerBound),
                Instant(seconds: now.seconds + Self.nearSeconds.upperBound)
            )
        case .own: (now, now)
        case .between(let first, let end): (first, end)
        }
    }

    /// The days of UTC that it touches, counted from 1970; nil for one that moves with the time.
    var days: Range<Int>? {
        switch self {
        case .near: nil
        case .own: 0..<0
        case .between(let first, let end): first.day..<Instant(seconds: end.seconds - 1).day + 1
        }
    }
}

extension Instant {
    /// The day of UTC, counted from 1970.
    var day: Int { seconds.flooredQuotient(by: 86_400) }
}

extension Array {
    /// The first place from which on all satisfy the predicate, in an array that is ordered so.
    fileprivate func partitioningIndex(where isBeyond: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
