package import Basics

/// The number of rows that each network has recently added to the tables. A network can add its share of a table's
/// limit without a pause, and the same number again during the time for which a row is kept. Therefore no network can
/// fill a table.
///
/// ```
/// rows that a network may add
///  share ┤●                       ●
///        │  ╲                   ╱    each row comes back after time ÷ share
///      0 ┼────●───────────────●──►
/// ```
package struct NetworkShares: Sendable {
    /// The divisors of a table's limit that give the share of each of a requester's networks, the narrowest first.
    /// During the time for which rows are kept, a network can add twice its share.
    static let parts = [16, 8, 4]
    /// The maximum number of entries. There is one for each network and table.
    static let capacity = 100_000

    private struct Key: Hashable {
        let network: UInt128
        let width: Int
        let table: StoredTable
    }

    /// The time until which a network has paid, in nanoseconds of the monotonic clock.
    private var paidUntil: [Key: UInt64] = [:]

    package init() {}

    /// Charges `count` rows to each of the requester's networks, if all of them have enough of their shares left.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of rows in the table.
    ///   - time: How long a row is kept.
    /// - Returns: `nil` if the networks have paid. Otherwise the number of seconds until they can pay for one row.
    package mutating func pay(
        _ count: Int, for table: StoredTable, of requester: Requester, limit: Int, time: Duration, at now: MonotonicTime
    ) -> Int? {
        let span = UInt64(max(1, time / .nanoseconds(1)))
        var paid: [(key: Key, until: UInt64)] = []
        for (width, network) in requester.networks.enumerated() {
            let share = UInt64(max(1, limit / Self.parts[min(width, Self.parts.count - 1)]))
            let key = Key(network: network, width: width, table: table)
            let interval = max(1, span / share)
            let until = max(paidUntil[key] ?? 0, now.nanoseconds)
            // If the share is smaller than `count`, the whole share pays for the rows.
            let cost = min(interval * UInt64(max(0, count)), span)
            guard until - now.nanoseconds + cost <= span else {
                return Int((until - now.nanoseconds + cost - span) / 1_000_000_000) + 1
            }
            paid.append((key, until + cost))
        }
        makeRoom(for: paid.count, at: now)
        for (key, until) in paid { paidUntil[key] = until }
        return nil
    }

    /// Returns to the networks the cost of rows that weren't added.
    package mutating func giveBack(
        _ count: Int, for table: StoredTable, of requester: Requester, limit: Int, time: Duration
    ) {
        let span = UInt64(max(1, time / .nanoseconds(1)))
        for (width, network) in requester.networks.enumerated() {
            let share = UInt64(max(1, limit / Self.parts[min(width, Self.parts.count - 1)]))
            let key = Key(network: network, width: width, table: table)
            guard let until = paidUntil[key] else { continue }
            let cost = min(max(1, span / share) * UInt64(max(0, count)), span)
            paidUntil[key] = until > cost ? until - cost : nil
        }
    }

    var count: Int { paidUntil.count }

    /// Removes the half of the networks that have added the fewest rows, if there are too many networks.
    private mutating func makeRoom(for count: Int, at now: MonotonicTime) {
        guard paidUntil.count + count > Self.capacity else { return }
        paidUntil = paidUntil.filter { $0.value > now.nanoseconds }
        guard paidUntil.count + count > Self.capacity else { return }
        let latest = paidUntil.sorted { $0.value > $1.value }.prefix(Self.capacity / 2)
        paidUntil = Dictionary(uniqueKeysWithValues: latest.map { ($0.key, $0.value) })
    }
}
