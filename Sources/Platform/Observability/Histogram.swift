/// Counts observations by size, in Prometheus' form. A value: an event loop owns one, and copies are added.
package struct Histogram: Sendable, Equatable {
    /// The inclusive upper bounds, ascending, without `+Inf`.
    package let bounds: [Double]
    /// The number of observations per bucket, not cumulative; one more than the bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Takes the counts of an atomic recorder that has buckets of its own.
    package init(bounds: [Double], counts: [Int], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    package var count: Int { counts.reduce(0, +) }

    /// O(bounds); there are about a dozen.
    package mutating func observe(_ value: Double) {
        counts[Self.bucket(of: value, in: bounds)] += 1
        sum += value
    }

    /// Adds the observations of another histogram with the same bounds. Others are ignored.
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
    /// Bounds for waits within the machine: 0.1 ms to 10 s.
    package static let latencyBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
    ]
    /// For the lateness of reminders: fine around the promised 100 ms, coarse up to the lead and beyond.
    package static let latenessBounds = [
        0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 15, 60,
    ]
}

/// A histogram of durations that any thread may add to without waiting.
package final class SharedHistogram: Sendable {
    private let bounds: [Double]
    private let counts: [Counter]
    /// Whole nanoseconds add up exactly, and an atomic holds centuries of them.
    private let nanoseconds = Counter()

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Negative durations, after a clock was set back, count as zero.
    package func observe(_ duration: Duration) {
        let duration = max(duration, .zero)
        let (seconds, attoseconds) = duration.components
        let value = Double(seconds) + Double(attoseconds) / 1e18
        counts[Histogram.bucket(of: value, in: bounds)].add()
        nanoseconds.add(Int(min(seconds, 1_000_000_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }

    /// The observations so far. An observation in progress may be in the counts and not yet in the sum.
    package var snapshot: Histogram {
        Histogram(bounds: bounds, counts: counts.map(\.value), sum: Double(nanoseconds.value) / 1e9)
    }
}
