package import Domain

/// Who is at the other end, as far as a request says.
package enum Identity: Sendable, Hashable {
    /// It doesn't say. The connection may stand; what needs a device is refused.
    case none
    /// It names its device, in plain text: whoever knows a device's id may act for it.
    case device(DeviceID)
    /// It brought a ticket, which is valid.
    case ticket(Ticket)

    package var device: DeviceID? {
        switch self {
        case .none: nil
        case .device(let device): device
        case .ticket(let ticket): ticket.device
        }
    }

    /// When it ends, in seconds since 1970: what lasts longer than a request has to end then too.
    package var expiry: Double? {
        if case .ticket(let ticket) = self { ticket.expiry } else { nil }
    }

    /// Whether it may have to do with `topic`, if everybody may who knows its name. Only a ticket is ever confined.
    package func allows(_ topic: Topic) -> Bool {
        if case .ticket(let ticket) = self { ticket.allows(topic) } else { true }
    }

    /// Throws unless it may.
    package func check(_ topic: Topic) throws(RequestError) {
        guard allows(topic) else { throw .topicNotAllowed }
    }
}
