/// The samples of the last minute, hour and day, each in a ring of fixed size. A value.
struct SampleHistory: Sendable {
    /// The length and the resolution of a history.
    enum Span: String, Sendable, CaseIterable {
        case minute, hour, day

        /// The number of seconds that a point covers.
        var step: Int {
            switch self {
            case .minute: 1
            case .hour: 60
            case .day: 3_600
            }
        }

        var points: Int { self == .day ? 24 : 60 }
    }

    private var rings = Span.allCases.map(Ring.init)
    private var newest = 0

    /// - Parameter second: The time in seconds, by a clock that never goes back.
    mutating func add(_ sample: Sample, at second: Int) {
        newest = max(newest, second)
        for index in rings.indices { rings[index].add(sample, at: second) }
    }

    /// Returns the points, the oldest first. The last point is incomplete. A point without samples is `nil`.
    func points(_ series: SampleSeries, of span: Span) -> [Double?] {
        rings.first { $0.span == span }?.points(series, until: newest) ?? []
    }

    private struct Ring: Sendable {
        let span: Span
        private var slots: [Slot]

        /// The samples of one point.
        private struct Slot: Sendable {
            /// The time of the point, counted in steps.
            var index = -1
            var sums: [SampleSeries: (value: Double, count: Int)] = [:]
        }

        init(_ span: Span) {
            self.span = span
            slots = Array(repeating: Slot(), count: span.points)
        }

        mutating func add(_ sample: Sample, at second: Int) {
            let index = second / span.step
            let place = index % slots.count
            if slots[place].index != index { slots[place] = Slot(index: index) }
            for (series, value) in sample.values {
                let (old, count) = slots[place].sums[series] ?? (0, 0)
                let joined = series.joining == .sum || count == 0 ? old + value : max(old, value)
                slots[place].sums[series] = (joined, count + 1)
            }
        }

        func points(_ series: SampleSeries, until second: Int) -> [Double?] {
            let last = second / span.step
            return (last - slots.count + 1...last).map { index in
                guard index >= 0 else { return nil }
                let slot = slots[index % slots.count]
                guard slot.index == index, let (value, count) = slot.sums[series] else { return nil }
                return series.joining == .sum ? value / Double(count) : value
            }
        }
    }
}
