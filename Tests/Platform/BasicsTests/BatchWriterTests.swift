import Basics
import TestSupport
import Testing

@Suite struct BatchWriterTests {
    private struct Unavailable: Error {}

    /// Reports each batch that it gets. It returns the given outcomes in order, and then `written`.
    private actor RecordingDestination: BatchDestination {
        private(set) var written: [Int] = []
        let events = EventRecorder<String>()
        private var outcomes: [BatchOutcome]
        private let reportsEmptiness: Bool

        init(_ outcomes: [BatchOutcome] = [], reportsEmptiness: Bool = false) {
            self.outcomes = outcomes
            self.reportsEmptiness = reportsEmptiness
        }

        func write(_ batch: BatchQueue<Int>.Batch) -> BatchOutcome {
            events.append("\(batch.number): \(batch.items)")
            written += batch.items
            return outcomes.isEmpty ? .written : outcomes.removeFirst()
        }

        func dropped(_ items: [Int], _ error: (any Error)?) {
            events.append("dropped \(items)\(error == nil ? "" : " after an error")")
        }

        func emptied() {
            if reportsEmptiness { events.append("empty") }
        }
    }

    private static func limits(retryPause: Duration = .zero) -> BatchLimits {
        BatchLimits(itemsPerBatch: 3, waitingItems: 5, retryPause: retryPause)
    }

    @Test("Added items are written, and the end waits for them")
    func writing() async {
        let destination = RecordingDestination()
        let writer = BatchWriter(destination, limits: Self.limits())
        await writer.add([1, 2, 3, 4])
        await writer.finish()
        #expect(destination.events.all == ["1: [1, 2, 3]", "2: [4]"])
        await writer.add([5])
        await writer.finish()
        #expect(destination.events.all.last == "3: [5]")
    }

    @Test("The destination is notified when the queue is empty")
    func emptiness() async {
        let destination = RecordingDestination(reportsEmptiness: true)
        let writer = BatchWriter(destination, limits: Self.limits())
        await writer.add([1, 2, 3, 4])
        await writer.finish()
        await writer.add([5])
        await writer.finish()
        #expect(destination.events.all == ["1: [1, 2, 3]", "2: [4]", "empty", "3: [5]", "empty"])
    }

    @Test("Items submitted by a thread are written in order, before items added later")
    func submitting() async {
        let destination = RecordingDestination()
        let writer = BatchWriter(destination, limits: BatchLimits(itemsPerBatch: 7, waitingItems: 10_000))
        for item in 0..<2_000 { writer.submit([item]) }
        await writer.add([2_000])
        for item in 2_001..<4_000 { writer.submit([item]) }
        await writer.finish()
        #expect(await destination.written == Array(0..<4_000))
    }

    @Test("Items beyond the limit are dropped and reported")
    func tooMuch() async {
        let destination = RecordingDestination()
        let writer = BatchWriter(destination, limits: Self.limits())
        await writer.add([1, 2, 3, 4, 5, 6])
        await writer.finish()
        #expect(destination.events.all == ["dropped [1, 2, 3, 4, 5, 6]"])
    }

    @Test("Writing continues when the destination is available again")
    func outage() async throws {
        let destination = RecordingDestination([.unavailable(Unavailable()), .unavailable(Unavailable())])
        let writer = BatchWriter(destination, limits: Self.limits())
        await writer.add([1])
        for _ in 1...3 { try await destination.events.next() }
        await writer.finish()
        #expect(destination.events.all == ["1: [1]", "1: [1]", "1: [1]"])
    }

    @Test("The end waits neither for a long pause nor for an unavailable destination")
    func endOfAnOutage() async throws {
        let destination = RecordingDestination([.unavailable(Unavailable()), .unavailable(Unavailable())])
        let writer = BatchWriter(destination, limits: Self.limits(retryPause: .seconds(3600)))
        await writer.add([1])
        try await destination.events.next()
        await writer.finish()
        #expect(destination.events.all.last == "dropped [1] after an error")
    }
}
