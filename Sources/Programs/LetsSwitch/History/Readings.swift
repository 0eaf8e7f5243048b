import Basics
import Notifications

/// The counters and gauges at one moment. Two readings give a ``Sample``. A value.
struct Readings: Sendable {
    let at: MonotonicTime
    /// The gauges' values at that moment.
    var gauges: [SampleSeries: Double] = [:]
    /// The counters, whose values only grow.
    var counters: [SampleSeries: Int] = [:]
    /// The number of sent reminders, and the sum of their lateness in seconds.
    var lateness = Mean()
    /// The number of statements, and the sum of their times in seconds.
    var queries = Mean()

    struct Mean: Sendable {
        var count = 0
        var sum = 0.0

        /// Returns the mean of the values since `earlier`; `nil` if there are none.
        func since(_ earlier: Mean) -> Double? {
            count > earlier.count ? max(0, sum - earlier.sum) / Double(count - earlier.count) : nil
        }
    }

    init(at: MonotonicTime) {
        self.at = at
    }

    /// - Parameters:
    ///   - due: The number of reminders of the next hour, and the lateness in seconds of the first unsent one. `nil` if
    ///     unknown.
    func sample(since earlier: Readings, due: (count: Int, late: Double)?) -> Sample {
        var sample = Sample()
        for (series, value) in gauges { sample[series] = value }
        let seconds = max(0.001, (at - earlier.at) / .seconds(1))
        for (series, count) in counters {
            sample[series] = Double(count - (earlier.counters[series] ?? 0)) / seconds
        }
        sample[.due] = due.map { Double($0.count) }
        if let late = lateness.since(earlier.lateness) ?? due.map({ _ in 0 }) {
            sample[.late] = max(late, due?.late ?? 0)
        }
        sample[.queryTime] = queries.since(earlier.queries).map { $0 * 1_000 }
        return sample
    }
}
