package import Basics
import Glibc
import Synchronization
package import Wire

/// The open connections and the rates of each address: one table for all event loops.
///
/// ```
/// network ─ keyed hash ─► bucket of 8 slots:  │ occupant: tag, connections │ paid for connections │ … upgrades │ … requests │ … writes │ … registrations │ … names │ … messages │
/// ```
///
/// An IPv4 address has one slot, an IPv6 address one for each ``AddressScope``. An action is charged in all of them,
/// the narrowest first, so that a refused address uses up nothing of its neighbours' limits.
///
/// The loops share one table, because an address's connections are spread over all loops and move when they become
/// WebSockets. Behind a proxy the address is known only where the request is parsed. A table per loop would multiply
/// the limit by the number of loops, and a table on one loop would need a message for each check. The slots are
/// therefore atomic words, and calls come from any thread. There is no lock: a slot's tag and its connections are one
/// word, changed together. A slot with connections is never given to another address, so that counts stay right. If two
/// loops touch the same rate at once, they may treat a forgotten address as new.
///
/// The table is bounded: in a full bucket, the least recently active address without connections is dropped. If all
/// have connections, the new address isn't counted.
package final class AddressLimiter: @unchecked Sendable {
    // Sendable is safe: the memory is accessed only through atomic words, and freed with the last reference.

    /// The position and tag of a network. The hash has a new key in each run, so that no client can aim at a bucket.
    private struct Key {
        let bucket: Int
        /// 32 bits, not zero. Two networks of a bucket share a tag once in 500 million.
        let tag: UInt64

        init(_ scope: AddressScope, of address: IPAddress, buckets: Int) {
            var hasher = Hasher()
            hasher.combine(scope.network(of: address))
            hasher.combine(scope)
            let hash = UInt64(UInt(bitPattern: hasher.finalize()))
            bucket = Int(hash & 0xFFFF_FFFF) % buckets
            tag = max(1, hash >> 32)
        }
    }

    /// The reason why a connection is refused.
    package enum Refusal: Error, Sendable {
        case tooManyConnections, tooFast
    }

    /// The result of counting a connection in one slot.
    private enum CountOutcome {
        case at(Int)
        case oneTooMany
        case tableFull
    }

    private static let slotsPerBucket = 8
    /// The occupant (tag in the upper half, connections in the lower; zero for a free slot), then the time until which
    /// it has paid for each ``LimitedAction``.
    private static let wordsPerSlot = 1 + LimitedAction.allCases.count
    private static let countMask: UInt64 = 0xFFFF_FFFF
    /// The number of attempts to change a word that other loops change too. After them the address isn't counted.
    private static let attempts = 8

    private let words: UnsafeMutablePointer<Atomic<UInt64>>?
    private let buckets: Int
    /// The limits of each scope, by ``AddressScope``.
    private let allowances: [AddressAllowance]

    /// - Parameters:
    /// - allowance: The limits of one address.
    /// - capacity: The maximum number of networks, rounded up to a multiple of eight; 64 bytes each.
    package init(_ allowance: AddressAllowance, capacity: Int = 65_536) {
        allowances = AddressScope.allCases.map { allowance.times($0.allowances) }
        buckets = max(1, (capacity + Self.slotsPerBucket - 1) / Self.slotsPerBucket)
        // A large allocation comes directly from the system, zeroed, page by page on first use. An atomic word has the
        // layout of its value, so zeros are valid. Without memory there are no limits.
        let count = buckets * Self.slotsPerBucket * Self.wordsPerSlot
        words = calloc(count, MemoryLayout<Atomic<UInt64>>.stride)?.bindMemory(
            to: Atomic<UInt64>.self, capacity: count)
    }

    deinit {
        free(words)
    }

    // MARK: Connections

    /// Counts a connection of `address` for the lifetime of the permit. A refusal allocates nothing.
    ///
    /// - Parameters:
    /// - address: An ``IPAddress/subscriber``.
    /// - isNew: Whether it is charged as a new connection. A proxy's connection that starts to count for another client
    ///   isn't.
    package func open(
        _ address: IPAddress, isNew: Bool = true, at now: MonotonicTime
    ) -> Result<ConnectionPermit, Refusal> {
        var slots = ConnectionPermit.Slots()
        for scope in AddressScope.scopes(of: address) {
            switch count(address, in: scope) {
            case .at(let slot):
                // From here on the slot belongs to this network until it is closed.
                slots[scope] = slot
            case .oneTooMany:
                close(slots)
                return .failure(.tooManyConnections)
            case .tableFull:
                break
            }
        }
        guard !isNew || pay(for: .connection, at: slots, now) else {
            close(slots)
            return .failure(.tooFast)
        }
        return .success(ConnectionPermit(of: address, in: self, at: slots))
    }

    private func count(_ address: IPAddress, in scope: AddressScope) -> CountOutcome {
        let key = Key(scope, of: address, buckets: buckets)
        let limit = allowances[scope.rawValue].maxConnections
        let most = limit > 0 ? min(UInt64(limit), Self.countMask) : Self.countMask
        for _ in 0..<Self.attempts {
            guard let slot = slot(of: key), let words else { break }
            let word = words + slot * Self.wordsPerSlot
            let occupant = word.pointee.load(ordering: .relaxed)
            // If the tag differs, another loop has reused the slot.
            guard occupant >> 32 == key.tag else { continue }
            guard occupant & Self.countMask < most else { return .oneTooMany }
            if Self.exchange(occupant, for: occupant + 1, in: word.pointee) { return .at(slot) }
        }
        return .tableFull
    }

    /// Ends a permit.
    func close(_ slots: ConnectionPermit.Slots) {
        guard let words else { return }
        for scope in AddressScope.allCases {
            guard let slot = slots[scope] else { continue }
            // The count is at least one, so the tag above it doesn't change.
            words[slot * Self.wordsPerSlot].wrappingSubtract(1, ordering: .relaxed)
        }
    }

    // MARK: Rates

    /// Charges the action `count` times. Returns whether the limits permit it.
    func pay(
        for action: LimitedAction, times count: Int = 1, at slots: ConnectionPermit.Slots, _ now: MonotonicTime
    ) -> Bool {
        guard let words else { return true }
        for scope in AddressScope.allCases {
            guard let slot = slots[scope] else { continue }
            let rate = allowances[scope.rawValue].rate(of: action)
            guard Self.pay(words[slot * Self.wordsPerSlot + 1 + action.rawValue], by: rate, times: count, at: now)
            else { return false }
        }
        return true
    }

    /// Takes back what was charged for actions that weren't performed.
    func giveBack(_ action: LimitedAction, times count: Int, at slots: ConnectionPermit.Slots) {
        guard let words, count > 0 else { return }
        for scope in AddressScope.allCases {
            guard let slot = slots[scope] else { continue }
            let cost = allowances[scope.rawValue].rate(of: action).cost(of: count)
            let word = words + slot * Self.wordsPerSlot + 1 + action.rawValue
            for _ in 0..<Self.attempts {
                let paid = word.pointee.load(ordering: .relaxed)
                // An instant in the past counts like now.
                if Self.exchange(paid, for: paid > cost ? paid - cost : 0, in: word.pointee) { break }
            }
        }
    }

    /// Returns the maximum number of seconds that a refused address must wait, if it requests nothing else.
    func seconds(for action: LimitedAction, times count: Int) -> Int {
        allowances[AddressScope.subscriber.rawValue].rate(of: action).seconds(for: count)
    }

    private static func pay(
        _ word: borrowing Atomic<UInt64>, by rate: RateLimit, times count: Int, at now: MonotonicTime
    ) -> Bool {
        for _ in 0..<attempts {
            let paid = word.load(ordering: .relaxed)
            guard let more = rate.paying(paid, times: count, at: now) else { return false }
            if exchange(paid, for: more, in: word) { return true }
        }
        return true
    }

    private static func exchange(_ old: UInt64, for new: UInt64, in word: borrowing Atomic<UInt64>) -> Bool {
        // Relaxed, because no other memory depends on the word.
        word.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    // MARK: Slots

    /// Returns the slot of a network, and assigns one if it has none. O(8).
    private func slot(of key: Key) -> Int? {
        guard let words else { return nil }
        let bucket = key.bucket * Self.slotsPerBucket..<(key.bucket + 1) * Self.slotsPerBucket
        for _ in 0..<Self.attempts {
            var oldest: (slot: Int, occupant: UInt64, lastSeen: UInt64)?
            for slot in bucket {
                let occupant = words[slot * Self.wordsPerSlot].load(ordering: .relaxed)
                if occupant >> 32 == key.tag { return slot }
                guard occupant & Self.countMask == 0 else { continue }
                let lastSeen = paidUntil(in: slot)
                if oldest.map({ lastSeen < $0.lastSeen }) ?? true { oldest = (slot, occupant, lastSeen) }
            }
            guard let oldest else { return nil }
            let word = words + oldest.slot * Self.wordsPerSlot
            for action in LimitedAction.allCases { word[1 + action.rawValue].store(0, ordering: .relaxed) }
            if Self.exchange(oldest.occupant, for: key.tag << 32, in: word.pointee) { return oldest.slot }
        }
        return nil
    }

    /// The latest time that it has paid for, for any action, tells which slot was used last.
    private func paidUntil(in slot: Int) -> UInt64 {
        guard let words else { return 0 }
        var latest: UInt64 = 0
        for word in 1..<Self.wordsPerSlot {
            latest = max(latest, words[slot * Self.wordsPerSlot + word].load(ordering: .relaxed))
        }
        return latest
    }
}
