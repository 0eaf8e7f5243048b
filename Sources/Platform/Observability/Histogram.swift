/// Counts observations by size, as Prometheus wants them. A value: an event loop owns one, copies are summed.
package struct Histogram: Sendable, Equatable {
    /// Upper bounds, inclusive, ascending; `+Inf` is understood.
    package let bounds: [Double]
    /// Observations by bucket, not cumulative; one more than bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// For atomic recorders, whose buckets live elsewhere.
    package init(bounds: [Double], counts: [Int], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    package var count: Int { counts.reduce(0, +) }

    /// O(bounds); there are a dozen.
    package mutating func observe(_ value: Double) {
        counts[Self.bucket(of: value, in: bounds)] += 1
        sum += value
    }

    /// Adds what another of the same bounds has seen; one of other bounds is left out, which the tests would show.
    package mutating func add(_ other: Histogram) {
        assert(bounds == other.bounds)
        guard bounds == other.bounds else { return }
        for index in counts.indices { counts[index] += other.counts[index] }
        sum += other.sum
    }

    static func bucket(of value: Double, in bounds: [Double]) -> Int {
        bounds.firstIndex { value <= $0 } ?? bounds.count
    }
}

extension Histogram {
    /// For waits within the machine: 0.1 ms to 10 s.
    package static let latencyBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
    ]
    /// For the lateness of reminders: fine around the promised 100 ms, coarse up to the lead and beyond.
    package static let latenessBounds = [
        0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 15, 60,
    ]
}

/// A histogram that any thread may add to without waiting; durations only.
package final class SharedHistogram: Sendable {
    private let bounds: [Double]
    private let counts: [Counter]
    /// Whole nanoseconds add up exactly, and an atomic holds centuries of them.
    private let nanoseconds = Counter()

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Durations below zero, which a clock set back can make, count as zero.
    package func observe(_ duration: Duration) {
        let duration = max(duration, .zero)
        let (seconds, attoseconds) = duration.components
        let value = Double(seconds) + Double(attoseconds) / 1e18
        counts[Histogram.bucket(of: value, in: bounds)].add()
        nanoseconds.add(Int(min(seconds, 1_000_000_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }

    /// What was seen until now; an observation under way may be in the counts and not yet in the sum.
    package var snapshot: Histogram {
        Histogram(bounds: bounds, counts: counts.map(\.value), sum: Double(nanoseconds.value) / 1e9)
    }
}
