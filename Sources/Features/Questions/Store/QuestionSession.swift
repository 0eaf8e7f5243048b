import Domain
package import FoundationEssentials
import Wire

/// A question session as every user may see it.
package struct QuestionSession: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        case open
        /// The session can be read, but doesn't change until it is opened again.
        case closed
    }

    package let id: UUID
    /// The title. If the session's owner was erased, the title of ``open``.
    package let title: String
    package var state: State
    /// Whether a question must be approved before the audience sees it.
    package let isModerated: Bool
    /// The version. It increases with every change.
    package var version: Int

    package init(id: UUID, title: String, state: State = .open, isModerated: Bool = false, version: Int = 0) {
        self.id = id
        self.title = title.isEmpty ? Self.open.title : title
        self.state = state
        self.isModerated = isModerated
        self.version = version
    }

    /// The session of `--open-questions`. In it, every user is both audience and presenter.
    package static let open = QuestionSession(
        id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), title: "Questions")

    /// - Parameter key: The presenter's key, if it is to be shown.
    package func json(key: PresenterKey? = nil) -> [UInt8] {
        var json = JSONText()
        json.object { object in
            object.member("id", id.text)
            object.member("title", title)
            object.member("state", state.rawValue)
            object.member("moderated", isModerated)
            object.member("presenterKey", key?.text)
        }
        return json.bytes
    }
}
