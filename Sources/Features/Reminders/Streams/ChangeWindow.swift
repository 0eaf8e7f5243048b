import Basics
package import Domain

/// The slots whose changes a stream reports. Changes of the device's own tasks are always reported.
package enum ChangeWindow: Hashable, Sendable {
    /// The default: from yesterday to the day after tomorrow. The window moves with the time.
    case near
    /// Only slots of the device's own tasks.
    case own
    case between(Instant, Instant)

    /// The moving window in seconds from now. It includes today and tomorrow in every time zone.
    static let nearSeconds = -86_400..<2 * 86_400
    /// The maximum length of a window in seconds: 32 days.
    static let maximumSpan = 32 * 86_400

    /// Reads the parameters of a request. Either both are given or neither.
    ///
    /// - Throws: `invalid_request` that names the parameter.
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

    /// Returns the range of the sorted slots in the window at `now`.
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

    /// The UTC days of the window, counted from 1970. `nil` for a moving window.
    var days: Range<Int>? {
        switch self {
        case .near: nil
        case .own: 0..<0
        case .between(let first, let end): first.day..<Instant(seconds: end.seconds - 1).day + 1
        }
    }
}

extension Instant {
    /// The UTC day, counted from 1970.
    var day: Int { UTCTime(seconds: seconds).days }
}

extension Array {
    /// Returns the first index from which all elements satisfy the predicate. The array must be sorted.
    fileprivate func partitioningIndex(where isBeyond: (Element) -> Bool) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if isBeyond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
