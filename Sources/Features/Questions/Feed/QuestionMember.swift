package import Access
import Basics
package import Domain
package import FoundationEssentials

/// A user in a session, through one connection.
package struct QuestionMember: Sendable {
    package let session: UUID
    /// The user's id within the session. It belongs to the device. If no device is named, it belongs to the connection.
    package let id: UUID
    let device: DeviceID?
    /// Whether the user sees all questions and their authors.
    let isPresenter: Bool
    /// Whether the user has shown the session's key. In a session without a key, every user is a presenter.
    let holdsKey: Bool
    /// Whether the connection receives changes of the list.
    let isLive: Bool
    /// The time at which the ticket expires, in epoch seconds. `nil` without a ticket.
    let expiry: Double?
    /// The time at which the connection entered.
    let since = MonotonicTime.now()
}

extension Questions {
    /// Returns the member with this identity. Throws if the identity's ticket doesn't include the session.
    package func member(
        of session: UUID, _ identity: Identity, isPresenter: Bool, holdsKey: Bool = false, isLive: Bool
    ) throws(RequestError) -> QuestionMember {
        try identity.check(.questions(session))
        let device = identity.device
        return QuestionMember(
            session: session, id: device.map { id(of: $0, in: session) } ?? UUID(), device: device,
            isPresenter: isPresenter, holdsKey: holdsKey, isLive: isLive, expiry: identity.expiry)
    }
}
