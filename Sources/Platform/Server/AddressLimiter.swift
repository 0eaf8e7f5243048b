package import Basics
import Glibc
import Synchronization
package import Wire

/// The open connections and the rates of each address, in one table for all event loops.
///
/// ```
/// network ─ keyed hash ─► bucket of 8 entries
/// entry: │ occupant: tag, connections │ paid for connections │ … upgrades │ … requests │ … │ … messages │
/// ```
///
/// An IPv4 address has one entry. An IPv6 address has one entry for each ``AddressScope``. An action is charged in all
/// entries, the narrowest first. A refused address therefore uses nothing of its neighbours' limits.
///
/// The loops share one table for three reasons. First, the connections of an address are spread over all loops, and
/// they move when they become WebSockets. Behind a proxy, the address is known only where the request is parsed.
/// Second, with a table per loop, the limit would be multiplied by the number of loops. Third, a table on one loop
/// would need a message for each check.
///
/// Each entry consists of atomic words, so any thread may call the methods without a lock. An entry's tag and its
/// number of connections share one word, so they change together. An entry with connections is never given to another
/// address, so the number stays correct. If two loops change the same rate at the same moment, the table may treat an
/// address as new.
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

    /// The result of counting a connection in one entry.
    private enum CountOutcome {
        case at(Int)
        case oneTooMany
        case tableFull
    }

    private static let entriesPerBucket = 8
    /// The number of words in an entry. The first word has the tag in its upper half and the number of connections in
    /// its lower half. In a free entry, the first word is zero. One word for each ``LimitedAction`` follows: the time
    /// until which the network has paid for the action.
    private static let wordsPerEntry = 1 + LimitedAction.allCases.count
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
        buckets = max(1, (capacity + Self.entriesPerBucket - 1) / Self.entriesPerBucket)
        // A large allocation comes from the kernel, which provides zeroed pages when they are first used. An atomic
        // word has the layout of its value, so zeros are valid. If memory is exhausted, there are no limits.
        let count = buckets * Self.entriesPerBucket * Self.wordsPerEntry
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
        var entries = ConnectionPermit.Entries()
        for scope in AddressScope.scopes(of: address) {
            switch count(address, in: scope) {
            case .at(let entry):
                // The entry now has a connection, so it belongs to this network until `close` removes the connection.
                entries[scope] = entry
            case .oneTooMany:
                close(entries)
                return .failure(.tooManyConnections)
            case .tableFull:
                break
            }
        }
        guard !isNew || pay(for: .connection, at: entries, now) else {
            close(entries)
            return .failure(.tooFast)
        }
        return .success(ConnectionPermit(of: address, in: self, at: entries))
    }

    private func count(_ address: IPAddress, in scope: AddressScope) -> CountOutcome {
        let key = Key(scope, of: address, buckets: buckets)
        let limit = allowances[scope.rawValue].maxConnections
        let most = limit > 0 ? min(UInt64(limit), Self.countMask) : Self.countMask
        for _ in 0..<Self.attempts {
            guard let entry = entry(of: key), let words else { break }
            let word = words + entry * Self.wordsPerEntry
            let occupant = word.pointee.load(ordering: .relaxed)
            // If the tag differs, another loop has reused the entry.
            guard occupant >> 32 == key.tag else { continue }
            guard occupant & Self.countMask < most else { return .oneTooMany }
            if Self.exchange(occupant, for: occupant + 1, in: word.pointee) { return .at(entry) }
        }
        return .tableFull
    }

    /// Removes a permit's connection from the count of each of these entries.
    func close(_ entries: ConnectionPermit.Entries) {
        guard let words else { return }
        for scope in AddressScope.allCases {
            guard let entry = entries[scope] else { continue }
            // The count is at least one, so the tag above it doesn't change.
            words[entry * Self.wordsPerEntry].wrappingSubtract(1, ordering: .relaxed)
        }
    }

    // MARK: Rates

    /// Charges the action `count` times. Returns whether the limits permit it.
    func pay(
        for action: LimitedAction, times count: Int = 1, at entries: ConnectionPermit.Entries, _ now: MonotonicTime
    ) -> Bool {
        guard let words else { return true }
        for scope in AddressScope.allCases {
            guard let entry = entries[scope] else { continue }
            let rate = allowances[scope.rawValue].rate(of: action)
            guard Self.pay(words[entry * Self.wordsPerEntry + 1 + action.rawValue], by: rate, times: count, at: now)
            else { return false }
        }
        return true
    }

    /// Returns the charge for actions that weren't performed.
    func giveBack(_ action: LimitedAction, times count: Int, at entries: ConnectionPermit.Entries) {
        guard let words, count > 0 else { return }
        for scope in AddressScope.allCases {
            guard let entry = entries[scope] else { continue }
            let cost = allowances[scope.rawValue].rate(of: action).cost(of: count)
            let word = words + entry * Self.wordsPerEntry + 1 + action.rawValue
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

    // MARK: Entries

    /// Returns the entry of a network. If it has none, assigns one. Takes O(8) steps.
    private func entry(of key: Key) -> Int? {
        guard let words else { return nil }
        let bucket = key.bucket * Self.entriesPerBucket..<(key.bucket + 1) * Self.entriesPerBucket
        for _ in 0..<Self.attempts {
            var oldest: (entry: Int, occupant: UInt64, lastSeen: UInt64)?
            for entry in bucket {
                let occupant = words[entry * Self.wordsPerEntry].load(ordering: .relaxed)
                if occupant >> 32 == key.tag { return entry }
                guard occupant & Self.countMask == 0 else { continue }
                let lastSeen = paidUntil(in: entry)
                if oldest.map({ lastSeen < $0.lastSeen }) ?? true { oldest = (entry, occupant, lastSeen) }
            }
            guard let oldest else { return nil }
            let word = words + oldest.entry * Self.wordsPerEntry
            for action in LimitedAction.allCases { word[1 + action.rawValue].store(0, ordering: .relaxed) }
            if Self.exchange(oldest.occupant, for: key.tag << 32, in: word.pointee) { return oldest.entry }
        }
        return nil
    }

    /// Returns the latest time until which the entry has paid for any action. The entry with the earliest such time is
    /// the one that was unused for longest.
    private func paidUntil(in entry: Int) -> UInt64 {
        guard let words else { return 0 }
        var latest: UInt64 = 0
        for word in 1..<Self.wordsPerEntry {
            latest = max(latest, words[entry * Self.wordsPerEntry + word].load(ordering: .relaxed))
        }
        return latest
    }
}
