package import Access
import Basics
package import Domain
package import FoundationEssentials

/// Who somebody is in a session.
package struct QuestionMember: Sendable {
    package let session: UUID
    /// By which the session knows it: the device's, or the connection's own.
    package let id: UUID
    let device: DeviceID?
    /// Sees everything, and who asked.
    let isPresenter: Bool
    /// Is told what changes.
    let isLive: Bool
    /// When its ticket ends, in seconds since 1970.
    let expiry: Double?
    /// When it came.
    let since = MonotonicTime.now()
}

extension Questions {
    /// Who somebody is in a session. Throws if its ticket isn't for that.
    package func member(
        of session: UUID, _ identity: Identity, isPresenter: Bool, isLive: Bool
    ) throws(RequestError) -> QuestionMember {
        try identity.check(.questions(session))
        let device = identity.device
        return QuestionMember(
            session: session, id: device.map { id(of: $0, in: session) } ?? UUID(), device: device,
            isPresenter: isPresenter, isLive: isLive, expiry: identity.expiry)
    }
}
