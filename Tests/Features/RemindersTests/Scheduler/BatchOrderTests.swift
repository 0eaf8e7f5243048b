import Basics
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Reminders

@Suite struct BatchOrderTests {
    private let start = MonotonicTime.now()

    private func order(settled: Int) -> BatchOrder {
        var order = BatchOrder()
        _ = order.settle(settled)
        return order
    }

    private func shown(_ releases: [BatchOrder.Release]) -> [[Int]] {
        releases.map { [$0.claim.batch, $0.settled] }
    }

    @Test("Consecutive batches are released at once")
    func inOrder() {
        var order = order(settled: 5)
        let released = order.offer(.sample(6), at: start) + order.offer(.sample(7), at: start)
        #expect(shown(released) == [[6, 5], [7, 6]])
        #expect(order.gap == nil && order.overdueAt == nil)
    }

    @Test("A batch waits for earlier ones and follows them")
    func gap() {
        var order = order(settled: 5)
        #expect(order.offer(.sample(8), at: start).isEmpty)
        #expect(order.gap?.after == 5 && order.gap?.upTo == 7)
        // The number 7 belongs to no batch.
        let released = order.fill([.sample(6)], upTo: 7)
        #expect(shown(released) == [[6, 5], [8, 7]])
        #expect(order.gap == nil && order.settled == 8)
    }

    @Test("A missing batch delays later ones only briefly")
    func lapse() {
        var order = order(settled: 5)
        _ = order.offer(.sample(7), at: start)
        #expect(order.releaseOverdue(at: start + BatchOrder.patience / 2).isEmpty)
        let early = order.releaseOverdue(at: start + BatchOrder.patience)
        #expect(shown(early) == [[7, 5]])
        // Batch 7 arrives again: from the database, or as the late answer to its claim.
        #expect(order.offer(.sample(7), at: start).isEmpty)
        #expect(order.gap?.upTo == 6)
        let filled = order.fill([.sample(6), .sample(7)], upTo: 7)
        #expect(shown(filled) == [[6, 5]])
        #expect(order.settled == 7)
    }

    @Test("Claims are released before the database is read")
    func unknown() {
        var order = BatchOrder()
        #expect(order.offer(.sample(57), at: start).isEmpty)
        #expect(order.gap == nil)
        let early = order.releaseOverdue(at: start + BatchOrder.patience)
        #expect(shown(early) == [[57, 0]])
        #expect(order.settle(57).isEmpty)
        #expect(shown(order.offer(.sample(58), at: start)) == [[58, 57]])
    }

    @Test("Too many held batches are released at once")
    func limit() {
        var order = order(settled: 0)
        var released: [BatchOrder.Release] = []
        for batch in 2...BatchOrder.heldLimit + 2 { released += order.offer(.sample(batch), at: start) }
        #expect(released.count == BatchOrder.heldLimit + 1)
    }

    @Test("A number without a batch is dropped")
    func correction() {
        var order = order(settled: 5)
        order.announce(.max)
        #expect(order.gap?.upTo == .max)
        _ = order.offer(.sample(9), at: start)
        order.correct(announced: 6)
        #expect(order.announced == 9 && order.gap?.upTo == 8)
    }

    @Test("In any order, each batch is released once")
    func anything() {
        var random = SeededRandom(seed: 15)
        for _ in 0..<300 {
            var order = BatchOrder()
            var now = start
            var out: [Int] = []
            var isOut: Set<Int> = []
            func take(_ releases: [BatchOrder.Release], isCaughtUp: Bool = false) {
                for release in releases {
                    if isCaughtUp, release.claim.batch <= release.settled { continue }
                    out.append(release.claim.batch)
                    if release.settled > 0 {
                        #expect((1...release.settled).allSatisfy { isOut.contains($0) })
                    }
                    isOut.insert(release.claim.batch)
                }
            }
            take(order.settle(0))
            for _ in 0..<60 {
                let batch = Int.random(in: 1...12, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0...1: take(order.offer(.sample(batch), at: now))
                case 2: order.announce(batch)
                case 3:
                    now = now + BatchOrder.patience
                    take(order.releaseOverdue(at: now))
                default:
                    guard let gap = order.gap else { continue }
                    take(order.fill((gap.after + 1...gap.upTo).map(ClaimedBatch.sample), upTo: gap.upTo))
                }
            }
            #expect(Set(out).count == out.count)
        }
    }
}
