package import Basics
import Glibc
import Synchronization
package import Wire

/// What each address has open, and how fast it comes and asks: one table for all event loops.
///
/// ```
/// network ─ keyed hash ─► bucket of 8 slots:  │ occupant: tag, connections │ paid for connections │ … upgrades │ … requests │ … writes │ … registrations │ … names │ … messages │
/// ```
/// An IPv4 address has one slot, an IPv6 address one for each ``AddressScope``; what it does is paid for in all of them, the
/// narrowest first: so who is refused there uses up nothing of its neighbours'.
///
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
package final class AddressLimiter: @unchecked Sendable {
    // Sendable holds: the memory is reached through atomic words alone, and freed when nobody has the table any more.

    /// Where to look for a network, and what to look for. The hash is keyed anew in each run: nobody can aim at a bucket.
    private struct Key {
        let bucket: Int
        /// 32 bits, not zero. That two networks of a bucket share it is once in 500 million.
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

    /// Why a connection is not admitted.
    package enum Refusal: Error, Sendable {
        case tooManyConnections, tooFast
    }

    /// What became of the attempt to count a connection in one slot.
    private enum CountOutcome {
        case at(Int)
        case oneTooMany
        case tableFull
    }

    private static let slotsPerBucket = 8
    /// The occupant (its tag in the upper half, its connections in the lower; zero while nobody has the slot), then until when
    /// it has paid for each ``LimitedAction``.
    private static let wordsPerSlot = 1 + LimitedAction.allCases.count
    private static let countMask: UInt64 = 0xFFFF_FFFF
    /// Tries at words that other loops change at the same moment; after them the address goes uncounted.
    private static let attempts = 8

    private let words: UnsafeMutablePointer<Atomic<UInt64>>?
    private let buckets: Int
    /// By ``AddressScope``.
    private let allowances: [AddressAllowance]

    /// - Parameters:
    ///   - allowance: Of one address.
    ///   - capacity: Networks remembered at most, rounded up to a multiple of eight; 64 bytes each.
    package init(_ allowance: AddressAllowance, capacity: Int = 65_536) {
        allowances = AddressScope.allCases.map { allowance.times($0.allowances) }
        buckets = max(1, (capacity + Self.slotsPerBucket - 1) / Self.slotsPerBucket)
        // So much memory comes from the system directly, zeroed, and page by page as it is touched. An atomic word has the
        // layout of its value, so zeros are zeros. Without memory nobody is limited.
        let count = buckets * Self.slotsPerBucket * Self.wordsPerSlot
        words = calloc(count, MemoryLayout<Atomic<UInt64>>.stride)?.bindMemory(
            to: Atomic<UInt64>.self, capacity: count)
    }

    deinit {
        free(words)
    }

    // MARK: Connections

    /// Counts a connection of `address`, for as long as the permit lives. A refusal allocates nothing.
    ///
    /// - Parameters:
    ///   - address: An ``IPAddress/subscriber``.
    ///   - isNew: Whether it pays as a new connection. One of a proxy's that begins to count for another client doesn't.
    package func open(
        _ address: IPAddress, isNew: Bool = true, at now: MonotonicTime
    ) -> Result<ConnectionPermit, Refusal> {
        var slots = ConnectionPermit.Slots()
        for scope in AddressScope.scopes(of: address) {
            switch count(address, in: scope) {
            case .at(let slot):
                // From here on the slot is this network's own, until it is closed.
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
            // Else another loop has given the slot away since.
            guard occupant >> 32 == key.tag else { continue }
            guard occupant & Self.countMask < most else { return .oneTooMany }
            if Self.exchange(occupant, for: occupant + 1, in: word.pointee) { return .at(slot) }
        }
        return .tableFull
    }

    /// A permit's end.
    func close(_ slots: ConnectionPermit.Slots) {
        guard let words else { return }
        for scope in AddressScope.allCases {
            guard let slot = slots[scope] else { continue }
            // The count is at least one, so the tag above it stays as it is.
            words[slot * Self.wordsPerSlot].wrappingSubtract(1, ordering: .relaxed)
        }
    }

    // MARK: Rates

    /// Whether whoever has these slots may do this `count` times more.
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

    /// How many seconds an address that was refused this has to wait at the longest, if nothing else is asked for from there.
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
        // Relaxed: no other memory is read because of what a word says.
        word.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    // MARK: Slots

    /// The slot of a network, given to it now if it has none. O(8).
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

    /// Who has paid for the longest, in whatever it did, was there last.
    private func paidUntil(in slot: Int) -> UInt64 {
        guard let words else { return 0 }
        var latest: UInt64 = 0
        for word in 1..<Self.wordsPerSlot {
            latest = max(latest, words[slot * Self.wordsPerSlot + word].load(ordering: .relaxed))
        }
        return latest
    }
}
