import Synchronization

/// A number that only increases. Any thread may increase it.
package final class Counter: Sendable {
    private let number = Atomic<Int>(0)

    package init() {}

    package var value: Int { number.load(ordering: .relaxed) }

    package func add(_ amount: Int = 1) {
        number.wrappingAdd(amount, ordering: .relaxed)
    }
}

/// A counter for each case of a label.
package struct CounterSet<Label: CaseIterable & RawRepresentable<String> & Hashable & Sendable>: Sendable {
    private let counters: [Label: Counter]

    package init() {
        counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) })
    }

    package func add(_ label: Label, _ amount: Int = 1) {
        counters[label]?.add(amount)
    }

    package func value(_ label: Label) -> Int {
        counters[label]?.value ?? 0
    }

    /// Returns a sample of every case for ``MetricsText``. Cases without events are included as zero, because a rate
    /// needs a value from before the first event.
    package func samples(label name: String) -> [MetricSample<Int>] {
        Label.allCases.map { MetricSample([name: $0.rawValue], value($0)) }
    }
}
