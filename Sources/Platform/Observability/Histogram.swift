/// Counts observations by size, in Prometheus' form. A value: each event loop owns one, and a scrape adds up copies.
package struct Histogram: Sendable, Equatable {
    /// The upper bounds of the buckets, inclusive and ascending, without `+Inf`.
    package let bounds: [Double]
    /// The number of observations in each bucket, not cumulative. There is one more bucket than bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// Creates a histogram from the counts of an atomic recorder, which has its own buckets.
    package init(bounds: [Double], counts: [Int], sum: Double) {
        self.bounds = bounds
        self.counts = counts
        self.sum = sum
    }

    package var count: Int { counts.reduce(0, +) }

    /// Adds an observation. The search is linear, because a histogram has only about a dozen bounds.
    package mutating func observe(_ value: Double) {
        counts[Self.bucket(of: value, in: bounds)] += 1
        sum += value
    }

    /// Adds the observations of another histogram. Does nothing if the bounds differ.
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
    /// The bounds for waits within the machine, from 0.1 ms to 10 s.
    package static let latencyBounds = [
        0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
    ]
    /// The bounds for the lateness of reminders: fine around the promised 100 ms, and coarse up to the lead and beyond.
    package static let latenessBounds = [
        0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2, 5, 15, 60,
    ]
}

/// A histogram of durations. Any thread may add to it without waiting.
package final class SharedHistogram: Sendable {
    private let bounds: [Double]
    private let counts: [Counter]
    /// The sum in whole nanoseconds. Integers add up exactly, and 64 bits hold centuries.
    private let nanoseconds = Counter()

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Adds a duration. A negative duration, which may appear after the clock was set back, counts as zero.
    package func observe(_ duration: Duration) {
        let duration = max(duration, .zero)
        let (seconds, attoseconds) = duration.components
        let value = Double(seconds) + Double(attoseconds) / 1e18
        counts[Histogram.bucket(of: value, in: bounds)].add()
        nanoseconds.add(Int(min(seconds, 1_000_000_000)) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
    }

    /// A copy of the observations until now. An observation in progress may be in the counts but not yet in the sum.
    package var snapshot: Histogram {
        Histogram(bounds: bounds, counts: counts.map(\.value), sum: Double(nanoseconds.value) / 1e9)
    }
}
