import Basics
import Testing

@testable import Notifications

/// The deliveries that a worker has leased.
@Suite struct LeasedDeliveriesTests {
    private static let lease = Duration.seconds(8)

    private func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(seconds * 1e9)) }

    /// Returns three deliveries leased at 0, of which the first is being sent.
    private func leases() -> LeasedDeliveries {
        var leases = LeasedDeliveries()
        leases.take([1, 2, 3].map { .sample(timeLeft: 20, id: $0) }, at: at(0), for: Self.lease)
        _ = leases.next(at: at(0))
        return leases
    }

    @Test("The oldest delivery is sent first")
    func order() {
        var leases = leases()
        guard case .send(let delivery) = leases.next(at: at(7)) else {
            Issue.record("nothing to send")
            return
        }
        #expect(delivery.id == 2)
        #expect(delivery.timeLeft == 13)
    }

    @Test("Reminders precede events, and first attempts precede others")
    func turns() {
        var leases = LeasedDeliveries()
        leases.take(
            [
                .sample(event: "room.opened", id: 1), .sample(attempt: 3, id: 2), .sample(attempt: 2, id: 3),
                .sample(id: 5), .sample(id: 4),
            ], at: at(0), for: Self.lease)
        let stock = leases.clearStock()
        #expect(stock.map(\.id).reversed() == [4, 5, 3, 2, 1])
    }

    @Test("Deliveries above a server's share are given back")
    func origins() {
        var leases = LeasedDeliveries()
        leases.take((1...6).map { .sample(id: $0) }, at: at(0), for: Self.lease) { $0.id == 6 ? "good" : "bad" }
        guard case .send(let delivery) = leases.next(at: at(0), admits: { $1 == "good" }) else {
            Issue.record("nothing to send")
            return
        }
        #expect(delivery.id == 6)
        let excess = leases.clearExcess { _ in 2 }
        #expect(excess.map(\.id) == [5, 4, 3])
        let stock = leases.clearStock()
        #expect(stock.map(\.id) == [2, 1])
    }

    @Test("A delivery that is leased twice is sent once")
    func again() {
        var leases = leases()
        leases.take([.sample(id: 1), .sample(id: 2)], at: at(1), for: Self.lease)
        #expect(leases.count == 3)
        let stock = leases.clearStock()
        #expect(stock.map(\.id) == [3, 2])
    }

    @Test("A delivery isn't sent after the end of its lease")
    func lease() {
        var leases = leases()
        #expect(leases.leased(until: at(8)).count == 3)
        leases.renewed([.sample(id: 1), .sample(id: 3)], kept: [1, 3], at: at(6), for: Self.lease)
        #expect(leases.leased(until: at(8)).map(\.id) == [2])
        let second = leases.next(at: at(8))
        #expect(second == .lost)
        guard case .send(let third) = leases.next(at: at(8)) else {
            Issue.record("the third was renewed")
            return
        }
        #expect(third.id == 3)
        let none = leases.next(at: at(8))
        #expect(none == nil)
        #expect(leases.count == 2)
    }

    @Test("Deliveries that the database no longer reserves are dropped")
    func taken() {
        var leases = leases()
        leases.renewed([1, 2, 3].map { .sample(id: $0) }, kept: [3], at: at(2), for: Self.lease)
        #expect(leases.count == 2)
        let stock = leases.clearStock()
        #expect(stock.map(\.id) == [3])
    }

    @Test("The renewal of an earlier lease doesn't affect a later one")
    func laterLease() {
        var leases = leases()
        leases.remove(1)
        leases.take([.sample(attempt: 2, id: 1)], at: at(5), for: Self.lease)
        leases.renewed([.sample(attempt: 1, id: 1)], kept: [], at: at(4), for: Self.lease)
        #expect(leases.count == 3)
        leases.renewed([.sample(attempt: 2, id: 1)], kept: [1], at: at(4), for: Self.lease)
        #expect(!leases.leased(until: at(12)).contains { $0.id == 1 })
    }

    @Test("After a pause all unsent deliveries are dropped")
    func standstill() {
        var leases = leases()
        let before = leases.removeLapsed(at: at(7.9))
        let after = leases.removeLapsed(at: at(8))
        #expect(!before && after)
        #expect(leases.count == 1)
        #expect(!leases.hasStock)
    }

    @Test("A delivery is late from its deadline on")
    func deadline() {
        var leases = leases()
        leases.renewed([2, 3].map { .sample(id: $0) }, kept: [2, 3], at: at(19), for: Self.lease)
        guard case .send = leases.next(at: at(19.5)), case .late(let delivery) = leases.next(at: at(20)) else {
            Issue.record("not late")
            return
        }
        #expect(delivery.id == 3)
    }
}
