package import Basics
package import Domain
import Server

/// The message rate of a connection: shared by all connections of its device, or its own if it names no device.
package struct MessageAllowance {
    package let rates: DeviceMessageRates
    private let device: DeviceID?
    private var paidUntil: UInt64 = 0

    package init(of device: DeviceID?, _ rates: DeviceMessageRates) {
        self.device = device
        self.rates = rates
    }

    /// Charges a message. Returns whether it may be sent.
    package mutating func pays(at now: MonotonicTime) -> Bool {
        if let device { return rates.pays(device, at: now) }
        guard let paid = rates.limit.paying(paidUntil, at: now) else { return false }
        paidUntil = paid
        return true
    }
}
