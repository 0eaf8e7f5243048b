import Basics
import FoundationEssentials
import Messaging

/// What is known of a session that somebody may enter.
package struct SessionEntrance: Sendable {
    let session: QuestionSession
    /// nil: everybody presents.
    let key: PresenterKeyDigest?

    /// Whether who shows these keys presents.
    func isPresenter(_ keys: [PresenterKeyDigest]) -> Bool {
        key.map(keys.contains) ?? true
    }
}

/// Those of the sessions that somebody is in, or may be soon. Any thread.
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
