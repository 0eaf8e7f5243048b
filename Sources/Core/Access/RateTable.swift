package import Basics
package import Domain
import Server

/// The message rate of each device, over all its sockets and loops.
package typealias DeviceMessageRates = RateTable<DeviceID>

/// The same rate for each of many keys, such as devices. Any thread may use it.
package final class RateTable<Key: Hashable & Sendable>: Sendable {
    private struct Allowances {
        var paidUntil: [Key: UInt64] = [:]
        /// The number of entries at which the entries with a full burst are removed. Such entries aren't needed,
        /// because a key without an entry has its full burst too.
        var nextSweep = 1024
    }

    package let perSecond: Int
    let limit: RateLimit
    private let allowances = Locked(Allowances())

    package init(perSecond rate: Int, burst: Int) {
        perSecond = rate
        limit = RateLimit(perSecond: rate, burst: burst)
    }

    /// Returns whether the rate admits `count` more events of a key.
    package func pays(_ key: Key, times count: Int = 1, at now: MonotonicTime) -> Bool {
        allowances.withLock { allowances in
            guard let paid = limit.paying(allowances.paidUntil[key] ?? 0, times: count, at: now) else { return false }
            allowances.paidUntil[key] = paid
            if allowances.paidUntil.count >= allowances.nextSweep {
                allowances.paidUntil = allowances.paidUntil.filter { $0.value > now.nanoseconds }
                allowances.nextSweep = max(1024, 2 * allowances.paidUntil.count)
            }
            return true
        }
    }
}
