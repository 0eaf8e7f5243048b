import Basics

/// The unfinished deliveries that a worker has leased: in stock, in flight, or with an unstored outcome. A value type:
/// time is an argument.
struct LeasedDeliveries {
    /// The next delivery from the stock.
    enum Next: Sendable, Hashable {
        /// The delivery to send. Its ``Delivery/timeLeft`` is counted from now.
        case send(Delivery)
        /// The delivery's deadline has passed.
        case late(Delivery)
        /// The lease has ended, and another daemon may have leased the delivery.
        case lost
    }

    private struct Lease {
        let delivery: Delivery
        /// See ``DeliveryProvider/origin(of:)``.
        let origin: String?
        /// The moment on this daemon's clock that corresponds to the delivery's ``Delivery/asOf``.
        let since: MonotonicTime
        /// The end of the lease.
        var leaseEnd: MonotonicTime
    }

    private var leases: [Int: Lease] = [:]
    /// The deliveries to send. The next is the last element, because removing it is cheap. The order is: reminders,
    /// then first attempts, then the oldest.
    private var stock: [Delivery] = []

    var count: Int { leases.count }
    /// The number of reminders in the stock.
    private(set) var urgentCount = 0
    var isEmpty: Bool { leases.isEmpty }
    var hasStock: Bool { !stock.isEmpty }

    /// Adds the deliveries of a lease to the stock.
    ///
    /// - Parameter now: The time of the query. All data in the answer is at least as new as this.
    mutating func take(
        _ deliveries: [Delivery], at now: MonotonicTime, for lease: Duration,
        origin: (Delivery) -> String? = { _ in nil }
    ) {
        for delivery in deliveries {
            // The delivery is already leased here, and its lease has ended. The delivery is in flight, or its outcome
            // isn't stored.
            guard leases[delivery.id] == nil else { continue }
            leases[delivery.id] = Lease(
                delivery: delivery, origin: origin(delivery), since: now, leaseEnd: now + lease)
            if delivery.isUrgent { urgentCount += 1 }
            stock.append(delivery)
        }
        stock.sort { $1.turn < $0.turn }
    }

    /// Removes and returns the next permitted delivery from the stock.
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

    /// Removes and returns the whole stock. The deliveries stay leased until they are finished.
    mutating func clearStock() -> [Delivery] {
        defer { stock = [] }
        return stock
    }

    /// Removes and returns deliveries in stock that exceed the limit of their server, because they would block
    /// deliveries to other servers.
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

    /// Returns the server of a leased delivery. See ``DeliveryProvider/origin(of:)``.
    func origin(of delivery: Delivery) -> String? {
        leases[delivery.id]?.origin
    }

    /// Removes a finished delivery.
    mutating func remove(_ id: Int) {
        if let held = leases.removeValue(forKey: id), held.delivery.isUrgent { urgentCount -= 1 }
    }

    // MARK: Leases

    /// Removes deliveries in stock whose lease has ended, for example after a long pause of the process.
    ///
    /// - Returns: Whether there were any.
    mutating func removeLapsed(at now: MonotonicTime) -> Bool {
        let lost = stock.filter { delivery in leases[delivery.id].map { $0.leaseEnd <= now } ?? true }
        for delivery in lost { remove(delivery.id) }
        stock.removeAll { leases[$0.id] == nil }
        return !lost.isEmpty
    }

    /// Returns the deliveries whose leases end by `end`.
    func leased(until end: MonotonicTime) -> [Delivery] {
        leases.values.filter { $0.leaseEnd <= end }.map(\.delivery)
    }

    /// Handles the answer to a renewal.
    ///
    /// - Parameters:
    ///   - asked: The deliveries whose leases were to be renewed.
    ///   - kept: The ids of the renewed leases. The others are finished, or another daemon has leased them.
    ///   - now: The time of the query.
    mutating func renewed(_ asked: [Delivery], kept: [Int], at now: MonotonicTime, for lease: Duration) {
        let kept = Set(kept)
        var lost: Set<Int> = []
        for delivery in asked {
            // The delivery may have been finished and leased again during the query.
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
    /// The position in the stock's order. The delivery with the smallest value is sent first.
    fileprivate var turn: (Int, Int, Int) { (isUrgent ? 0 : 1, attempt, id) }
}
