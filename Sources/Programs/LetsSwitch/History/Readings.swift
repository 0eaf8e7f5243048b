import Basics
import Delivery

/// What is counted, read at one moment: two of them give a ``Sample``. A value.
struct Readings: Sendable {
    let at: MonotonicTime
    /// What is as it is.
    var gauges: [SampleSeries: Double] = [:]
    /// What only grows.
    var counters: [SampleSeries: Int] = [:]
    /// Reminders that have fired, and the seconds that they were late together.
    var lateness = Mean()
    /// Statements, and the seconds that they took together.
    var queries = Mean()

    struct Mean: Sendable {
        var count = 0
        var sum = 0.0

        /// Of what came since; nil when nothing has.
        func since(_ earlier: Mean) -> Double? {
            count > earlier.count ? max(0, sum - earlier.sum) / Double(count - earlier.count) : nil
        }
    }

    init(at: MonotonicTime) {
        self.at = at
    }

    /// - Parameters:
    ///   - due: Reminders of the next hour, and by how many seconds one is late that hasn't fired; nil: nobody knows.
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
