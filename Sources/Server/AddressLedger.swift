import Glibc
package import Sockets
import Synchronization
package import Wire

/// What each address has open, and how fast it comes: one table for all event loops.
///
/// ```
/// address ─ keyed hash ─► bucket of 8 slots:  │ occupant: tag, connections │ paid for connections │ paid for upgrades │
/// ```
/// Why one table that the loops share, and not one a loop: an address' connections are spread over all loops and change
/// loops when they become WebSockets, and behind a proxy the address is known only where the request is read. A table a
/// loop would admit as many times the limit as there are loops; a table on one loop would be asked by message, and a
/// refusal that has to cost next to nothing can't wait for an answer. So the slots are atomic words, and the calls come
/// from any thread. No lock: a slot's tag and its connections are one word, changed together or not at all, and a slot
/// with connections is never given to another address, so that no count goes astray. Two loops that touch the same pace
/// at once may at worst take a forgotten address for new.
///
/// Bounded: when a bucket is full, the address goes that was there least lately, of those without connections. If all have
/// connections the newcomer isn't counted: among so many addresses, no single one is the trouble.
package final class AddressLedger: @unchecked Sendable {
    // Sendable holds: the memory is reached through atomic words alone, and freed when nobody has the table any more.

    /// All zero while nobody has it.
    private struct Slot: ~Copyable {
        /// The address' tag in the upper half, its connections in the lower.
        let occupant = Atomic<UInt64>(0)
        let connectionsPaid = Atomic<UInt64>(0)
        let upgradesPaid = Atomic<UInt64>(0)
    }

    /// Where to look for an address, and what to look for. The hash is keyed anew in each run: nobody can aim at a bucket.
    private struct Key {
        let bucket: Int
        /// 32 bits, not zero. That two addresses of a bucket share it is once in 500 million.
        let tag: UInt64

        init(_ address: IPAddress, buckets: Int) {
            let hash = UInt64(UInt(bitPattern: address.hashValue))
            bucket = Int(hash & 0xFFFF_FFFF) % buckets
            tag = max(1, hash >> 32)
        }
    }

    /// Why a connection is not admitted.
    package enum Refusal: Error, Sendable {
        case tooManyConnections, tooFast
    }

    private static let slotsPerBucket = 8
    private static let countMask: UInt64 = 0xFFFF_FFFF
    /// Tries at words that other loops change at the same moment; after them the address goes uncounted.
    private static let attempts = 8

    private let slots: UnsafeMutablePointer<Slot>?
    private let buckets: Int
    private let maxConnections: UInt64
    private let connectionRate: RateLimit
    private let upgradeRate: RateLimit

    /// - Parameters:
    ///   - maxConnections: Connections that an address may have open; 0 sets no limit.
    ///   - connectionRate: For an address' new connections.
    ///   - upgradeRate: For an address' attempts at a WebSocket.
    ///   - capacity: Addresses remembered at most, rounded up to a multiple of eight; 24 bytes each.
    package init(
        maxConnections: Int, connectionRate: RateLimit, upgradeRate: RateLimit, capacity: Int = 32_768
    ) {
        self.maxConnections = maxConnections > 0 ? min(UInt64(maxConnections), Self.countMask) : Self.countMask
        self.connectionRate = connectionRate
        self.upgradeRate = upgradeRate
        buckets = max(1, (capacity + Self.slotsPerBucket - 1) / Self.slotsPerBucket)
        // So much memory comes from the system directly, zeroed, and page by page as it is touched. An atomic word has the
        // layout of its value, so zeros are zeros. Without memory nobody is limited.
        let count = buckets * Self.slotsPerBucket
        slots = calloc(count, MemoryLayout<Slot>.stride)?.bindMemory(to: Slot.self, capacity: count)
    }

    deinit {
        free(slots)
    }

    // MARK: Connections

    /// Counts a new connection of `address`, for as long as the lease lives.
    ///
    /// - Parameter address: An ``IPAddress/subscriber``.
    package func open(_ address: IPAddress, at now: MonotonicTime) -> Result<AddressLease, Refusal> {
        let key = Key(address, buckets: buckets)
        for _ in 0..<Self.attempts {
            guard let index = slot(of: key), let slots else { break }
            let occupant = slots[index].occupant.load(ordering: .relaxed)
            // Else another loop has given the slot away since.
            guard occupant >> 32 == key.tag else { continue }
            guard occupant & Self.countMask < maxConnections else { return .failure(.tooManyConnections) }
            guard Self.exchange(occupant, for: occupant + 1, in: slots[index].occupant) else { continue }
            // From here on the slot is this address' own; the lease gives the connection back.
            let lease = AddressLease(of: address, in: self, slot: index)
            let isInTime = Self.pay(slots[index].connectionsPaid, by: connectionRate, at: now)
            return isInTime ? .success(lease) : .failure(.tooFast)
        }
        return .success(AddressLease(of: address, in: self, slot: nil))
    }

    /// A lease's end.
    func close(slot index: Int) {
        // The count is at least one, so the tag above it stays as it is.
        slots?[index].occupant.wrappingSubtract(1, ordering: .relaxed)
    }

    // MARK: Upgrades

    /// Whether `address`, an ``IPAddress/subscriber``, may try for a WebSocket once more. Costs less than a microsecond.
    package func admitsUpgrade(of address: IPAddress, at now: MonotonicTime) -> Bool {
        guard let index = slot(of: Key(address, buckets: buckets)), let slots else { return true }
        return Self.pay(slots[index].upgradesPaid, by: upgradeRate, at: now)
    }

    // MARK: Slots

    private static func pay(_ word: borrowing Atomic<UInt64>, by rate: RateLimit, at now: MonotonicTime) -> Bool {
        for _ in 0..<attempts {
            let paid = word.load(ordering: .relaxed)
            guard let more = rate.paying(paid, at: now) else { return false }
            if exchange(paid, for: more, in: word) { return true }
        }
        return true
    }

    private static func exchange(_ old: UInt64, for new: UInt64, in word: borrowing Atomic<UInt64>) -> Bool {
        // Relaxed: no other memory is read because of what a word says.
        word.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    /// The slot of an address, given to it now if it has none. O(8).
    private func slot(of key: Key) -> Int? {
        guard let slots else { return nil }
        let bucket = key.bucket * Self.slotsPerBucket..<(key.bucket + 1) * Self.slotsPerBucket
        for _ in 0..<Self.attempts {
            var oldest: (index: Int, occupant: UInt64, lastSeen: UInt64)?
            for index in bucket {
                let occupant = slots[index].occupant.load(ordering: .relaxed)
                if occupant >> 32 == key.tag { return index }
                guard occupant & Self.countMask == 0 else { continue }
                let lastSeen = max(
                    slots[index].connectionsPaid.load(ordering: .relaxed),
                    slots[index].upgradesPaid.load(ordering: .relaxed))
                if oldest.map({ lastSeen < $0.lastSeen }) ?? true { oldest = (index, occupant, lastSeen) }
            }
            guard let oldest else { return nil }
            slots[oldest.index].connectionsPaid.store(0, ordering: .relaxed)
            slots[oldest.index].upgradesPaid.store(0, ordering: .relaxed)
            if Self.exchange(oldest.occupant, for: key.tag << 32, in: slots[oldest.index].occupant) {
                return oldest.index
            }
        }
        return nil
    }
}
