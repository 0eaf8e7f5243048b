import Basics
import FoundationEssentials

/// The data of a session that a connection needs before it enters.
package struct SessionEntrance: Sendable {
    let session: QuestionSession
    /// The digest of the presenter's key. `nil` if every user is a presenter.
    let key: PresenterKeyDigest?

    /// Returns whether one of these keys is the presenter's key.
    func isPresenter(_ keys: [PresenterKeyDigest]) -> Bool {
        key.map(keys.contains) ?? true
    }
}

/// The entrances of sessions with a feed. Any thread may use them.
final class SessionEntrances: Sendable {
    private let entrances = Locked<[UUID: SessionEntrance]>([:])

    subscript(session: UUID) -> SessionEntrance? {
        entrances.withLock { $0[session] }
    }

    func set(_ entrance: SessionEntrance) {
        entrances.withLock { $0[entrance.session.id] = entrance }
    }

    func remove(_ session: UUID) {
        entrances.withLock { $0[session] = nil }
    }
}
