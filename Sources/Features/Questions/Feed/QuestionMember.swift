package import Access
import Basics
package import Domain
package import FoundationEssentials

/// A person in a session.
package struct QuestionMember: Sendable {
    package let session: UUID
    /// The person's id within the session. It belongs to the device, or to the connection if no device is named.
    package let id: UUID
    let device: DeviceID?
    /// Sees all questions and their authors.
    let isPresenter: Bool
    /// Has given the session's key. In a session without a key everybody is a presenter.
    let holdsKey: Bool
    /// Receives changes.
    let isLive: Bool
    /// When the ticket expires, in seconds since 1970.
    let expiry: Double?
    /// The time of the connection.
    let since = MonotonicTime.now()
}

extension Questions {
    /// Returns the person with this identity. Throws if its ticket doesn't include the session.
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
