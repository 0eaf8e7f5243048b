package import Domain

/// The identity of a caller, as the request states it.
package enum Identity: Sendable, Hashable {
    /// Not stated. The connection may stay, and actions that need a device are refused.
    case none
    /// A device id in plain text. Anyone who knows it can act for the device.
    case device(DeviceID)
    /// A valid ticket.
    case ticket(Ticket)

    package var device: DeviceID? {
        switch self {
        case .none: nil
        case .device(let device): device
        case .ticket(let ticket): ticket.device
        }
    }

    /// The time at which the ticket expires, in seconds since 1970. Connections and subscriptions with this identity
    /// must end then, too.
    package var expiry: Double? {
        if case .ticket(let ticket) = self { ticket.expiry } else { nil }
    }

    /// Whether the identity permits `topic`. Without a ticket, everyone who knows the topic's name is permitted. A
    /// ticket may be limited to certain topics.
    package func allows(_ topic: Topic) -> Bool {
        if case .ticket(let ticket) = self { ticket.allows(topic) } else { true }
    }

    /// Throws unless the identity permits the topic.
    package func check(_ topic: Topic) throws(RequestError) {
        guard allows(topic) else { throw .topicNotAllowed }
    }
}
