import Basics
import Testing

@testable import Sockets

@Suite struct TimerQueueTests {
    private static func entry(_ deadline: UInt64, _ key: Int) -> TimerQueue<Int>.Entry {
        .init(deadline: MonotonicTime(nanoseconds: deadline), key: key)
    }

    @Test("Deadlines come out in order, whatever order they went in", arguments: 0..<50)
    func order(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue<Int>()
        var model: [UInt64] = []
        for step in 0..<200 {
            if Bool.random(using: &random) || model.isEmpty {
                let deadline = UInt64.random(in: 0..<100, using: &random)
                queue.insert(Self.entry(deadline, step))
                model.append(deadline)
                model.sort()
            } else {
                let now = UInt64.random(in: 0..<120, using: &random)
                let popped = queue.popDue(at: MonotonicTime(nanoseconds: now))?.deadline.nanoseconds
                #expect(popped == model.first.flatMap { $0 <= now ? $0 : nil })
                if popped != nil { model.removeFirst() }
            }
            #expect(queue.count == model.count)
            #expect(queue.earliest?.nanoseconds == model.first)
        }
    }

    @Test("An entry is due at its deadline, and not a nanosecond before")
    func boundary() {
        var queue = TimerQueue<Int>()
        queue.insert(Self.entry(10, 1))
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 9)) == nil)
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 10))?.key == 1)
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 10)) == nil)
    }

    @Test("Every entry comes out once, with its own key")
    func keys() {
        var queue = TimerQueue<Int>()
        for key in 0..<100 { queue.insert(Self.entry(UInt64(key % 7), key)) }
        var keys: Set<Int> = []
        while let entry = queue.popDue(at: .distantFuture) { keys.insert(entry.key) }
        #expect(keys.count == 100)
        queue.insert(Self.entry(1, 1))
        queue.removeAll()
        #expect(queue.earliest == nil)
    }

    @Test(
        "An instant is rounded up to a tick, never down",
        arguments: [(UInt64(0), UInt64(0)), (1, 10), (9, 10), (10, 10), (11, 20), (.max - 5, .max), (.max, .max)])
    func ticks(instant: UInt64, expected: UInt64) {
        #expect(MonotonicTime(nanoseconds: instant).roundedUp(to: 10).nanoseconds == expected)
    }
}
