package import Basics
package import Domain
import Server

/// What a connection pays for its messages from: its device's allowance, which all the device's connections have in common, or its own where
/// it names no device.
package struct MessageAllowance {
    package let rates: DeviceMessageRates
    private let device: DeviceID?
    private var paidUntil: UInt64 = 0

    package init(of device: DeviceID?, _ rates: DeviceMessageRates) {
        self.device = device
        self.rates = rates
    }

    /// Whether one more may be sent.
    package mutating func pays(at now: MonotonicTime) -> Bool {
        if let device { return rates.pays(device, at: now) }
        guard let paid = rates.limit.paying(paidUntil, at: now) else { return false }
        paidUntil = paid
        return true
    }
}
