import Domain
package import FoundationEssentials
import Wire

/// A session of questions, as everybody may see it.
package struct QuestionSession: Sendable, Hashable {
    package enum State: String, Sendable, Hashable {
        case open
        /// One can read, and nothing changes until it is opened again.
        case closed
    }

    package let id: UUID
    /// `open`'s, where whoever gave it another was erased.
    package let title: String
    package var state: State
    /// Whether a question is seen by others only once it was approved.
    package let isModerated: Bool
    /// Counts what happens in it.
    package var version: Int

    package init(id: UUID, title: String, state: State = .open, isModerated: Bool = false, version: Int = 0) {
        self.id = id
        self.title = title.isEmpty ? Self.open.title : title
        self.state = state
        self.isModerated = isModerated
        self.version = version
    }

    /// The session that `--open-questions` has: everybody's, in the audience and in front of it.
    package static let open = QuestionSession(
        id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), title: "Questions")

    /// - Parameter key: The presenter's, where it is shown.
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
