import Basics

/// A worker's leased deliveries that aren't finished: in stock, in flight, or with an unstored outcome. A value: time
/// is an argument.
struct LeasedDeliveries {
    /// The next delivery from the stock.
    enum Next: Sendable, Hashable {
        /// The delivery with its times as of now.
        case send(Delivery)
        /// The delivery's deadline has passed.
        case late(Delivery)
        /// The lease has ended. Another daemon may have the delivery by now.
        case lost
    }

    private struct Lease {
        let delivery: Delivery
        /// See ``DeliveryProvider/origin(of:)``.
        let origin: String?
        /// The moment to which the delivery's times refer.
        let since: MonotonicTime
        /// The end of its lease.
        var leaseEnd: MonotonicTime
    }

    private var leases: [Int: Lease] = [:]
    /// The first to send is at the end, where removal is cheap: reminders, first attempts, the oldest.
    private var stock: [Delivery] = []

    var count: Int { leases.count }
    /// The number of reminders in the stock.
    private(set) var urgentCount = 0
    var isEmpty: Bool { leases.isEmpty }
    var hasStock: Bool { !stock.isEmpty }

    /// Adds the deliveries of a lease to the stock.
    ///
    /// - Parameter now: The time of the request. The response may contain older facts than itself, but none older than
    ///   this.
    mutating func take(
        _ deliveries: [Delivery], at now: MonotonicTime, for lease: Duration,
        origin: (Delivery) -> String? = { _ in nil }
    ) {
        for delivery in deliveries {
            // It is already leased here, and its lease ran out: it is in flight, or its outcome isn't stored.
            guard leases[delivery.id] == nil else { continue }
            leases[delivery.id] = Lease(
                delivery: delivery, origin: origin(delivery), since: now, leaseEnd: now + lease)
            if delivery.isUrgent { urgentCount += 1 }
            stock.append(delivery)
        }
        stock.sort { $1.turn < $0.turn }
    }

    /// Takes the next permitted delivery from the stock.
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

    /// Takes everything from the stock. The deliveries stay leased until they are finished.
    mutating func clearStock() -> [Delivery] {
        defer { stock = [] }
        return stock
    }

    /// Takes the deliveries beyond `limit` for one server from the stock, because they would block others.
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

    /// See ``DeliveryProvider/origin(of:)``, for a leased delivery.
    func origin(of delivery: Delivery) -> String? {
        leases[delivery.id]?.origin
    }

    /// Removes a finished delivery.
    mutating func remove(_ id: Int) {
        if let held = leases.removeValue(forKey: id), held.delivery.isUrgent { urgentCount -= 1 }
    }

    // MARK: Leases

    /// Removes deliveries in stock whose lease has ended, as after a long pause.
    ///
    /// - Returns: Whether there were any.
    mutating func removeLapsed(at now: MonotonicTime) -> Bool {
        let lost = stock.filter { delivery in leases[delivery.id].map { $0.leaseEnd <= now } ?? true }
        for delivery in lost { remove(delivery.id) }
        stock.removeAll { leases[$0.id] == nil }
        return !lost.isEmpty
    }

    /// Returns the deliveries whose leases end before `end`.
    func leased(until end: MonotonicTime) -> [Delivery] {
        leases.values.filter { $0.leaseEnd <= end }.map(\.delivery)
    }

    /// Handles the answer to a renewal at `now` of `asked`, of which `kept` are extended. The others belong to another
    /// daemon by now.
    mutating func renewed(_ asked: [Delivery], kept: [Int], at now: MonotonicTime, for lease: Duration) {
        let kept = Set(kept)
        var lost: Set<Int> = []
        for delivery in asked {
            // It may have been finished and leased again meanwhile.
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
    /// The order of the stock. The delivery with the smallest value is sent first.
    fileprivate var turn: (Int, Int, Int) { (isUrgent ? 0 : 1, attempt, id) }
}
