import Basics
import FoundationEssentials

/// The data of a session that is read before somebody enters it.
package struct SessionEntrance: Sendable {
    let session: QuestionSession
    /// The presenter's key. `nil` if everyone is a presenter.
    let key: PresenterKeyDigest?

    /// Returns whether one of these keys is the presenter's.
    func isPresenter(_ keys: [PresenterKeyDigest]) -> Bool {
        key.map(keys.contains) ?? true
    }
}

/// The entrances of sessions with subscribers, or with expected ones. Any thread.
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
