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
