package import Basics
package import Domain
import Server

/// The message rate of each device, over all its sockets and loops. Any thread.
package final class DeviceMessageRates: Sendable {
    private struct Allowances {
        var paidUntil: [DeviceID: UInt64] = [:]
        /// The size at which devices with a full allowance are dropped.
        var nextSweep = 1024
    }

    let limit: RateLimit
    package let perSecond: Int
    private let allowances = Locked(Allowances())

    package init(perSecond rate: Int, burst: Int) {
        perSecond = rate
        limit = RateLimit(perSecond: rate, burst: burst)
    }

    /// Charges a message. Returns whether the device may send it.
    package func pays(_ device: DeviceID, at now: MonotonicTime) -> Bool {
        allowances.withLock { allowances in
            guard let paid = limit.paying(allowances.paidUntil[device] ?? 0, at: now) else { return false }
            allowances.paidUntil[device] = paid
            if allowances.paidUntil.count >= allowances.nextSweep {
                allowances.paidUntil = allowances.paidUntil.filter { $0.value > now.nanoseconds }
                allowances.nextSweep = max(1024, 2 * allowances.paidUntil.count)
            }
            return true
        }
    }
}
