import Basics

/// What a worker has leased and not finished yet: in stock, on its way, or finished. A value: time is an argument.
struct LeasedDeliveries {
    /// What comes out of the stock.
    enum Next: Sendable, Hashable {
        /// As of now.
        case send(Delivery)
        /// Its deadline has passed.
        case late(Delivery)
        /// Somebody else may have it by now: it was let go of.
        case lost
    }

    private struct Lease {
        let delivery: Delivery
        /// See ``DeliveryProvider/origin(of:)``.
        let origin: String?
        /// What the delivery says of time is of this moment.
        let since: MonotonicTime
        /// Until then it is nobody else's.
        var leaseEnd: MonotonicTime
    }

    private var leases: [Int: Lease] = [:]
    /// What goes first at the end, where taking is cheap: reminders, first attempts, the oldest.
    private var stock: [Delivery] = []

    var count: Int { leases.count }
    /// Reminders among them.
    private(set) var urgentCount = 0
    var isEmpty: Bool { leases.isEmpty }
    var hasStock: Bool { !stock.isEmpty }

    /// Adds what a lease gave to the stock.
    ///
    /// - Parameter now: When the lease was asked for: what the answer says may be older than the answer, but not than this.
    mutating func take(
        _ deliveries: [Delivery], at now: MonotonicTime, for lease: Duration,
        origin: (Delivery) -> String? = { _ in nil }
    ) {
        for delivery in deliveries {
            // Ours already, and its lease ran out: it is on its way still, or its end not written yet.
            guard leases[delivery.id] == nil else { continue }
            leases[delivery.id] = Lease(
                delivery: delivery, origin: origin(delivery), since: now, leaseEnd: now + lease)
            if delivery.isUrgent { urgentCount += 1 }
            stock.append(delivery)
        }
        stock.sort { $1.turn < $0.turn }
    }

    /// Takes the next one out of the stock that may go now.
    mutating func next(
        at now: MonotonicTime, admits: (_ delivery: Delivery, _ origin: String?) -> Bool = { _, _ in true }
    ) -> Next? {
        guard let index = stock.lastIndex(where: { admits($0, origin(of: $0)) }) else { return nil }
        let delivery = stock.remove(at: index)
        guard let held = leases[delivery.id] else { return nil }
        guard now < held.leaseEnd else {
            remove(delivery.id)
            return .lost
        }
        let aged = delivery.aged(by: now - held.since)
        return aged.timeLeft > 0 ? .send(aged) : .late(aged)
    }

    /// Takes all out of the stock. They are in hand until they are finished.
    mutating func clearStock() -> [Delivery] {
        defer { stock = [] }
        return stock
    }

    /// Takes out of the stock what one server has in hand beyond `limit`: it would keep others' out.
    mutating func clearExcess(_ limit: (_ origin: String) -> Int) -> [Delivery] {
        var counts: [String: Int] = [:]
        for held in leases.values { if let origin = held.origin { counts[origin, default: 0] += 1 } }
        var excess: [Delivery] = []
        stock.removeAll { [leases] delivery in
            guard let origin = leases[delivery.id]?.origin, let count = counts[origin], count > limit(origin) else {
                return false
            }
            counts[origin] = count - 1
            excess.append(delivery)
            return true
        }
        return excess
    }

    /// See ``DeliveryProvider/origin(of:)``; of what is in hand.
    func origin(of delivery: Delivery) -> String? {
        leases[delivery.id]?.origin
    }

    /// It is finished.
    mutating func remove(_ id: Int) {
        if let held = leases.removeValue(forKey: id), held.delivery.isUrgent { urgentCount -= 1 }
    }

    // MARK: Leases

    /// Lets go of what is in stock though its lease is over, as after a standstill.
    ///
    /// - Returns: Whether there was any.
    mutating func removeLapsed(at now: MonotonicTime) -> Bool {
        let lost = stock.filter { delivery in leases[delivery.id].map { $0.leaseEnd <= now } ?? true }
        for delivery in lost { remove(delivery.id) }
        stock.removeAll { leases[$0.id] == nil }
        return !lost.isEmpty
    }

    /// Those whose leases end before `end`.
    func leased(until end: MonotonicTime) -> [Delivery] {
        leases.values.filter { $0.leaseEnd <= end }.map(\.delivery)
    }

    /// The database was asked at `now` to keep `asked` for us, and keeps `kept`. The others are somebody else's by now.
    mutating func renewed(_ asked: [Delivery], kept: [Int], at now: MonotonicTime, for lease: Duration) {
        let kept = Set(kept)
        var lost: Set<Int> = []
        for delivery in asked {
            // Meanwhile it may have been finished, and be here by another lease.
            guard let held = leases[delivery.id], held.delivery.attempt == delivery.attempt else { continue }
            if kept.contains(delivery.id) {
                leases[delivery.id]?.leaseEnd = max(held.leaseEnd, now + lease)
            } else {
                lost.insert(delivery.id)
            }
        }
        let taken = stock.filter { lost.contains($0.id) }
        stock.removeAll { lost.contains($0.id) }
        for delivery in taken { remove(delivery.id) }
    }
}

extension Delivery {
    /// Smaller goes first.
    fileprivate var turn: (Int, Int, Int) { (isUrgent ? 0 : 1, attempt, id) }
}
