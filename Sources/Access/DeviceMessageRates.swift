package import Basics
package import Domain
import Server

/// How many messages each device may send, on whatever sockets and loops. Any thread.
package final class DeviceMessageRates: Sendable {
    private struct Purses {
        var paidUntil: [DeviceID: UInt64] = [:]
        /// With so many, those who are no better off than a newcomer are forgotten.
        var nextSweep = 1024
    }

    let limit: RateLimit
    package let perSecond: Int
    private let purses = Locked(Purses())

    package init(perSecond rate: Int, burst: Int) {
        perSecond = rate
        limit = RateLimit(perSecond: rate, burst: burst)
    }

    /// Whether the device may send one more.
    package func pays(_ device: DeviceID, at now: MonotonicTime) -> Bool {
        purses.withLock { purses in
            guard let paid = limit.paying(purses.paidUntil[device] ?? 0, at: now) else { return false }
            purses.paidUntil[device] = paid
            if purses.paidUntil.count >= purses.nextSweep {
                purses.paidUntil = purses.paidUntil.filter { $0.value > now.nanoseconds }
                purses.nextSweep = max(1024, 2 * purses.paidUntil.count)
            }
            return true
        }
    }
}
