package import Crypto
package import Domain

/// The reason why an identity is refused. Routes turn the reason into a status, and other transports report it in their
/// own form.
package enum IdentityRefusal: Error, Sendable, Hashable {
    /// The request names a device in plain text, and this server requires a ticket.
    case ticketRequired
    /// The ticket is invalid.
    case badTicket(JSONWebTokenFault)
    /// The ticket and the request name different devices.
    case otherDevice
    /// An invalid deviceId, or two tickets.
    case invalid(RequestError)

    /// Whether the request had a ticket that was refused.
    package var isAboutTicket: Bool {
        switch self {
        case .badTicket, .otherDevice: true
        case .ticketRequired, .invalid: false
        }
    }

    package var requestError: RequestError {
        switch self {
        case .ticketRequired:
            RequestError(
                status: 401, code: "ticket_required",
                reason: "A ticket is required: send it as ?token= or in an Authorization: Bearer header.")
        case .badTicket(let fault):
            RequestError(
                status: 401, code: fault == .expired ? "ticket_expired" : "bad_ticket", reason: fault.sentence)
        case .otherDevice:
            RequestError(
                status: 401, code: "bad_ticket", reason: "The ticket's sub claim must be the same device as deviceId.")
        case .invalid(let error): error
        }
    }
}

extension RequestError {
    package static let topicNotAllowed = RequestError(
        status: 403, code: "topic_not_allowed", reason: "The ticket's topics claim doesn't include this.")
}

extension JSONWebTokenFault {
    /// The sentence for people. It may state the reason, because its reader is the ticket's author.
    fileprivate var sentence: String {
        switch self {
        case .malformed:
            """
            The ticket must be a JSON Web Token with valid sub, exp, nbf and topics claims. At most \
            \(Ticket.maximumTopics) topics are allowed.
            """
        case .algorithm: "The ticket must be signed with HS256, and its header must not have a crit member."
        case .signature: "The ticket's signature doesn't match this server's secret."
        case .noExpiry: "The ticket must have an exp claim."
        case .expired: "The ticket has expired. Get a new one."
        case .early: "The ticket isn't valid yet: its nbf claim is in the future."
        case .audience: "The ticket must not have an aud claim."
        }
    }
}
