package import Basics
package import Domain
import Server

/// The message rate of each device, over all its sockets and loops. Any thread may use it.
package final class DeviceMessageRates: Sendable {
    let limit: RateLimit
    package let perSecond: Int
    private let rates: RateTable<DeviceID>

    package init(perSecond rate: Int, burst: Int) {
        perSecond = rate
        limit = RateLimit(perSecond: rate, burst: burst)
        rates = RateTable(limit)
    }

    /// Charges a message. Returns whether the device may send it.
    package func pays(_ device: DeviceID, at now: MonotonicTime) -> Bool {
        rates.pays(device, at: now)
    }
}
