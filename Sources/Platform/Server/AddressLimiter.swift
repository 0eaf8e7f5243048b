package import Basics
import Glibc
import Synchronization
package import Wire

/// The open connections and the rates of each address, in one table for all event loops.
///
/// ```
/// network ─ keyed hash ─► bucket of 8 slots
/// slot: │ occupant: tag, connections │ paid for connections │ … upgrades │ … requests │ … │ … messages │
/// ```
///
/// An IPv4 address has one slot. An IPv6 address has one slot for each ``AddressScope``. An action is charged in all
/// slots, the narrowest first. A refused address therefore uses nothing of its neighbours' limits.
///
/// The loops share one table for three reasons. First, the connections of an address are spread over all loops, and
/// they move when they become WebSockets. Behind a proxy, the address is known only where the request is parsed.
/// Second, with a table per loop, the limit would be multiplied by the number of loops. Third, a table on one loop
/// would need a message for each check.
///
/// The slots are atomic words, so any thread may call the methods, and there is no lock. A slot's tag and its number of
/// connections are one word and change together. A slot with connections is never given to another address, so the
/// number stays correct. If two loops change the same rate at once, the table may treat an address as new.
///
/// The table is bounded. If a bucket is full, the address that was active the longest time ago and has no connections
/// is dropped. If all addresses have connections, the new one isn't counted.
package final class AddressLimiter: @unchecked Sendable {
    // `@unchecked Sendable` is safe because the memory is accessed only through atomic words, and freed with the last
    // reference.

    /// The position and the tag of a network. The hash has a new key in each run, so that a client can't choose
    /// addresses that fill one bucket.
    private struct Key {
        let bucket: Int
        /// A tag of 32 bits, never zero. The chance that two networks of a bucket share a tag is 1 in 500 million.
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
    /// The number of words in a slot. The first word has the tag in its upper half and the number of connections in its
    /// lower half; it is zero in a free slot. One word for each ``LimitedAction`` follows: the time until which the
    /// network has paid for it.
    private static let wordsPerSlot = 1 + LimitedAction.allCases.count
    private static let countMask: UInt64 = 0xFFFF_FFFF
    /// The maximum number of attempts to change a word that other loops change too. After that, the address isn't
    /// counted.
    private static let attempts = 8

    private let words: UnsafeMutablePointer<Atomic<UInt64>>?
    private let buckets: Int
    /// The limits of each scope, by ``AddressScope``.
    private let allowances: [AddressAllowance]

    /// - Parameters:
    ///   - allowance: The limits of one address.
    ///   - capacity: The maximum number of networks, rounded up to a multiple of eight. Each takes 64 bytes.
    package init(_ allowance: AddressAllowance, capacity: Int = 65_536) {
        allowances = AddressScope.allCases.map { allowance.times($0.allowances) }
        buckets = max(1, (capacity + Self.slotsPerBucket - 1) / Self.slotsPerBucket)
        // A large allocation comes from the kernel, which provides zeroed pages when they are first used. An atomic
        // word has the layout of its value, so zeros are valid. If memory is exhausted, there are no limits.
        let count = buckets * Self.slotsPerBucket * Self.wordsPerSlot
        words = calloc(count, MemoryLayout<Atomic<UInt64>>.stride)?.bindMemory(
            to: Atomic<UInt64>.self, capacity: count)
    }

    deinit {
        free(words)
    }

    // MARK: Connections

    /// Counts a connection of `address` as long as the permit exists. A refusal allocates nothing.
    ///
    /// - Parameters:
    ///   - address: An ``IPAddress/subscriber``.
    ///   - isNew: Whether to charge a new connection. It is `false` if a proxy's open connection starts to count for
    ///     another client.
    package func open(
        _ address: IPAddress, isNew: Bool = true, at now: MonotonicTime
    ) -> Result<ConnectionPermit, Refusal> {
        var slots = ConnectionPermit.Slots()
        for scope in AddressScope.scopes(of: address) {
            switch count(address, in: scope) {
            case .at(let slot):
                // The slot now has a connection, so it belongs to this network until the permit is closed.
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

    /// Takes the connection of a permit out of the count.
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

    /// Returns the charge for actions that weren't performed.
    func giveBack(_ action: LimitedAction, times count: Int, at slots: ConnectionPermit.Slots) {
        guard let words, count > 0 else { return }
        for scope in AddressScope.allCases {
            guard let slot = slots[scope] else { continue }
            let cost = allowances[scope.rawValue].rate(of: action).cost(of: count)
            let word = words + slot * Self.wordsPerSlot + 1 + action.rawValue
            for _ in 0..<Self.attempts {
                let paid = word.pointee.load(ordering: .relaxed)
                // If the result is in the past, it means the same as the present time.
                if Self.exchange(paid, for: paid > cost ? paid - cost : 0, in: word.pointee) { break }
            }
        }
    }

    /// Returns the maximum number of seconds that a refused address must wait, if it sends no other requests.
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
        // The relaxed order is enough, because no other memory depends on the word.
        word.compareExchange(expected: old, desired: new, ordering: .relaxed).exchanged
    }

    // MARK: Slots

    /// Returns the slot of a network. If it has none, assigns one. Takes O(8) steps.
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

    /// Returns the latest time until which the slot has paid for any action. It shows which slot was used last.
    private func paidUntil(in slot: Int) -> UInt64 {
        guard let words else { return 0 }
        var latest: UInt64 = 0
        for word in 1..<Self.wordsPerSlot {
            latest = max(latest, words[slot * Self.wordsPerSlot + word].load(ordering: .relaxed))
        }
        return latest
    }
}
