package import Crypto
package import Domain

/// The reason why an identity is refused. A route converts it to its status. Other transports report it in their own
/// form.
package enum IdentityRefusal: Error, Sendable, Hashable {
    /// The request names a device in plain text, and this server requires a ticket.
    case ticketRequired
    /// The ticket is invalid.
    case badTicket(JSONWebTokenFault)
    /// The ticket is for another device than the request names.
    case otherDevice
    /// An invalid deviceId, or two tickets.
    case invalid(RequestError)

    /// Whether a ticket is the reason.
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
                reason: "This server wants a ticket, as ?token= or Authorization: Bearer.")
        case .badTicket(let fault):
            RequestError(
                status: 401, code: fault == .expired ? "ticket_expired" : "bad_ticket", reason: fault.sentence)
        case .otherDevice:
            RequestError(status: 401, code: "bad_ticket", reason: "The ticket is for another device than deviceId.")
        case .invalid(let error): error
        }
    }
}

extension RequestError {
    package static let topicNotAllowed = RequestError(
        status: 403, code: "topic_not_allowed", reason: "The ticket is for other topics.")
}

extension JSONWebTokenFault {
    /// For people. The reader is the ticket's author, so the reason may be stated.
    fileprivate var sentence: String {
        switch self {
        case .malformed: "The ticket is no JSON Web Token, or sub, exp, nbf or topics are not what they have to be."
        case .algorithm: "The ticket has to be signed with HS256, and nothing in its header may be critical."
        case .signature: "The ticket is not signed with this server's secret."
        case .everlasting: "The ticket has no exp."
        case .expired: "The ticket is over."
        case .early: "The ticket doesn't hold yet."
        case .audience: "The ticket is for somebody else: it names an audience."
        }
    }
}
