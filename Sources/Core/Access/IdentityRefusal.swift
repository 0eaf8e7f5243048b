package import Crypto
package import Domain

/// Why a request's word about who asks isn't taken. Thrown by a route it becomes its status; doors that can't show one say it in
/// their own way.
package enum IdentityRefusal: Error, Sendable, Hashable {
    /// The device is named in plain text, and this server wants a ticket.
    case ticketRequired
    /// There is a ticket, and it isn't valid.
    case badTicket(JSONWebTokenFault)
    /// It is valid, and another device's than the request names.
    case otherDevice
    /// A deviceId that can't be one, or two tickets.
    case invalid(RequestError)

    /// Whether there was a ticket to complain about.
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
    /// For people. Who made the ticket reads it, so what is wrong may be told.
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
