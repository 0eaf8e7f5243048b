import Basics
import Testing

@testable import Sockets

@Suite struct TimerQueueTests {
    private static func entry(_ deadline: UInt64, _ key: Int) -> TimerQueue<MonotonicTime, Int>.Entry {
        .init(deadline: MonotonicTime(nanoseconds: deadline), key: key)
    }

    @Test("Deadlines leave in order, in whatever order they were added", arguments: 0..<50)
    func order(seed: Int) {
        var random = SeededGenerator(seed: seed)
        var queue = TimerQueue<MonotonicTime, Int>()
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

    @Test("An entry is due exactly at its deadline")
    func boundary() {
        var queue = TimerQueue<MonotonicTime, Int>()
        queue.insert(Self.entry(10, 1))
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 9)) == nil)
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 10))?.key == 1)
        #expect(queue.popDue(at: MonotonicTime(nanoseconds: 10)) == nil)
    }

    @Test("Every entry leaves once with its own key")
    func keys() {
        var queue = TimerQueue<MonotonicTime, Int>()
        for key in 0..<100 { queue.insert(Self.entry(UInt64(key % 7), key)) }
        var keys: Set<Int> = []
        while let entry = queue.popDue(at: .distantFuture) { keys.insert(entry.key) }
        #expect(keys.count == 100)
        queue.insert(Self.entry(1, 1))
        queue.removeAll()
        #expect(queue.earliest == nil)
    }
}

/// Deadlines that are rounded to steps.
@Suite struct CoarseInstantTests {
    private static let step = CoarseInstant.step
    /// The number of steps until the numbers repeat.
    private static let round = step << 32

    private static func time(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

    @Test(
        "An instant is rounded up or down to a step",
        arguments: [0, 7 * step, round - 3 * step, 3 * round], [0, 1, step - 1])
    func rounding(base: UInt64, offset: UInt64) {
        let now = Self.time(base + offset)
        #expect(CoarseInstant(notAfter: now).time(near: now) == Self.time(base))
        #expect(
            CoarseInstant(notBefore: now, at: now).time(near: now) == Self.time(offset == 0 ? base : base + Self.step))
    }

    @Test(
        "A later instant compares as later across a wrap-around",
        arguments: [UInt64(0), round - 2 * step, 5 * round - step / 2])
    func order(base: UInt64) {
        let instants = (0..<6).map {
            CoarseInstant(notBefore: Self.time(base + $0 * 3 * Self.step), at: Self.time(base))
        }
        for (index, instant) in instants.enumerated() {
            #expect(instants.map { instant.isBefore($0) } == instants.indices.map { index < $0 })
            #expect(instant.isBefore(.never) && !CoarseInstant.never.isBefore(instant))
        }
        #expect(!CoarseInstant.never.isBefore(.never))
    }

    @Test("Only the distant future never comes")
    func never() {
        let now = MonotonicTime.now()
        #expect(CoarseInstant(notBefore: .distantFuture, at: now) == .never)
        #expect(CoarseInstant(notBefore: now + .seconds(1_000_000_000), at: now) == .never)
        let year = CoarseInstant(notBefore: now + .seconds(31_536_000), at: now)
        #expect(CoarseInstant(notAfter: now).isBefore(year) && year.isBefore(.never))
        #expect(CoarseInstant.never.time(near: .now()) == .distantFuture)
        // The number of this instant is reserved, so its neighbours are used.
        let taken = Self.time(Self.round - Self.step)
        #expect(CoarseInstant(notBefore: taken, at: taken).time(near: taken) == Self.time(Self.round))
        #expect(CoarseInstant(notAfter: taken).time(near: taken) == Self.time(Self.round - 2 * Self.step))
    }
}
