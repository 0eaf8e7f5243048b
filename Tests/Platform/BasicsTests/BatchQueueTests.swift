import Basics
import TestSupport
import Testing

@Suite struct BatchQueueTests {
    private struct Unavailable: Error {}

    private static func queue(_ items: Range<Int>, perBatch: Int = 4, tries: Int = 1) -> BatchQueue<Int> {
        var queue = BatchQueue<Int>(
            BatchLimits(itemsPerBatch: perBatch, waitingItems: 10, retryPause: .seconds(7), tries: tries))
        let taken = queue.add(items)
        #expect(taken)
        return queue
    }

    /// Returns the next action as text.
    private static func next(_ queue: inout BatchQueue<Int>) -> String {
        switch queue.next() {
        case .write(let batch): "\(batch.number): \(batch.items)"
        case .pause(let duration): "pause \(duration)"
        case .idle: "idle"
        }
    }

    @Test("Items leave in order, in batches of limited size with consecutive numbers")
    func order() {
        var queue = Self.queue(0..<10)
        for expected in ["1: [0, 1, 2, 3]", "2: [4, 5, 6, 7]", "3: [8, 9]"] {
            #expect(Self.next(&queue) == expected)
            #expect(queue.wrote(.written) == [])
        }
        #expect(Self.next(&queue) == "idle")
        #expect(queue.count == 0)
    }

    @Test("Items added during a write wait for the next batch")
    func lateItems() {
        var queue = Self.queue(0..<2)
        #expect(Self.next(&queue) == "1: [0, 1]")
        let taken = queue.add([2])
        #expect(taken)
        #expect(queue.wrote(.written) == [])
        #expect(Self.next(&queue) == "2: [2]")
    }

    @Test(
        "Accepted items leave once and in order, with any outcomes", arguments: 1...20)
    func pieces(_ seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        var queue = BatchQueue<Int>(BatchLimits(itemsPerBatch: 5, waitingItems: 40))
        var (taken, left) = ([Int](), [Int]())
        for _ in 0..<500 {
            let items = taken.count..<(taken.count + Int.random(in: 0...12, using: &random))
            if queue.add(items) { taken += items }
            guard Bool.random(using: &random), case .write(let batch) = queue.next() else { continue }
            #expect(batch.items.count <= 5)
            if Int.random(in: 0..<4, using: &random) == 0 {
                // A refused batch of one item is dropped, so that item has left the queue too.
                left += queue.wrote(.refused(Unavailable()))
            } else {
                left += batch.items
                _ = queue.wrote(.written)
            }
            #expect(queue.count == taken.count - left.count)
        }
        #expect(left == Array(taken.prefix(left.count)) && left.count > 100)
    }

    @Test("A rest follows each batch, unless many items wait")
    func rest() {
        func queue(_ items: Range<Int>) -> BatchQueue<Int> {
            var queue = BatchQueue<Int>(BatchLimits(itemsPerBatch: 2, waitingItems: 10, rest: .seconds(3)))
            let taken = queue.add(items)
            #expect(taken)
            return queue
        }
        var rush = queue(0..<4)
        #expect(Self.next(&rush) == "1: [0, 1]")
        #expect(rush.wrote(.written) == [])
        #expect(Self.next(&rush) == "pause 3.0 seconds")
        #expect(Self.next(&rush) == "2: [2, 3]")
        #expect(rush.wrote(.written) == [])
        #expect(Self.next(&rush) == "idle")
        let taken = rush.add([4])
        #expect(taken)
        #expect(Self.next(&rush) == "3: [4]")

        var end = queue(0..<4)
        #expect(Self.next(&end) == "1: [0, 1]")
        #expect(end.wrote(.written) == [])
        end.finish()
        #expect(Self.next(&end) == "2: [2, 3]")

        var crowd = queue(0..<8)
        #expect(Self.next(&crowd) == "1: [0, 1]")
        #expect(crowd.wrote(.written) == [])
        #expect(Self.next(&crowd) == "2: [2, 3]")
        #expect(crowd.wrote(.written) == [])
        #expect(Self.next(&crowd) == "pause 3.0 seconds")
    }

    @Test("An addition that doesn't fit is refused as a whole")
    func limit() {
        var queue = Self.queue(0..<9)
        let tooMany = queue.add([9, 10])
        #expect(!tooMany && queue.count == 9)
        let justEnough = queue.add([9])
        #expect(justEnough && queue.count == 10)
        let anyhow = queue.add([10, 11], evenIfFull: true)
        #expect(anyhow && queue.count == 12)
    }

    @Test("While the destination is unavailable, the same batch is repeated")
    func unavailable() {
        var queue = Self.queue(0..<5)
        for _ in 0..<3 {
            #expect(Self.next(&queue) == "1: [0, 1, 2, 3]")
            #expect(queue.wrote(.unavailable(Unavailable())) == [])
            #expect(Self.next(&queue) == "pause 7.0 seconds")
        }
        #expect(Self.next(&queue) == "1: [0, 1, 2, 3]")
        #expect(queue.wrote(.written) == [])
        #expect(Self.next(&queue) == "2: [4]")
    }

    @Test("After the end, no batch waits for an unavailable destination")
    func finishing() {
        var queue = Self.queue(0..<5)
        #expect(Self.next(&queue) == "1: [0, 1, 2, 3]")
        #expect(queue.wrote(.unavailable(Unavailable())) == [])
        queue.finish()
        #expect(Self.next(&queue) == "pause 7.0 seconds")
        #expect(Self.next(&queue) == "1: [0, 1, 2, 3]")
        #expect(queue.wrote(.unavailable(Unavailable())) == [0, 1, 2, 3])
        #expect(Self.next(&queue) == "2: [4]")
        #expect(queue.wrote(.unavailable(Unavailable())) == [4])
        #expect(Self.next(&queue) == "idle")
    }

    @Test("A refused item is found by halving, and the others are written")
    func refused() {
        var queue = Self.queue(0..<8)
        var written: [Int] = []
        var dropped: [Int] = []
        var sizes: [Int] = []
        while case .write(let batch) = queue.next() {
            sizes.append(batch.items.count)
            if batch.items.contains(1) {
                dropped += queue.wrote(.refused(Unavailable()))
            } else {
                written += batch.items
                dropped += queue.wrote(.written)
            }
        }
        #expect(written == [0, 2, 3, 4, 5, 6, 7])
        #expect(dropped == [1])
        #expect(sizes == [4, 2, 1, 2, 1, 1, 2, 3])
    }

    @Test("A failing batch is tried a limited number of times", arguments: [1, 3])
    func failed(tries: Int) {
        var queue = Self.queue(0..<1, tries: tries)
        for _ in 1..<tries {
            #expect(Self.next(&queue) == "1: [0]")
            #expect(queue.wrote(.failed(Unavailable())) == [])
            #expect(Self.next(&queue) == "pause 7.0 seconds")
        }
        #expect(Self.next(&queue) == "1: [0]")
        #expect(queue.wrote(.failed(Unavailable())) == [0])
        #expect(Self.next(&queue) == "idle")
    }
}
