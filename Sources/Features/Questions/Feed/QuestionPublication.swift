import Domain
package import Rooms
import Server
import Sockets

/// The changes of a session since the last publication. Published in the session's room.
package struct QuestionPublication: Message {
    package let changes: QuestionChanges
    /// Whether the session was opened or closed.
    let hasNewState: Bool

    init(_ changes: QuestionChanges, hasNewState: Bool) {
        self.changes = changes
        self.hasNewState = hasNewState
    }

    /// Returns the events for live subscribers.
    ///
    /// - Parameter forPresenter: Whether to include questions without approval.
    package func events(forPresenter: Bool) -> [QuestionEvent] {
        var events: [QuestionEvent] = changes.part.changes.compactMap { change in
            switch change {
            case .removed(let id): .removed(id)
            case .asked(let question), .changed(let question):
                if forPresenter || question.state == .approved {
                    .question(question, forPresenter: forPresenter)
                } else if case .changed = change {
                    .removed(question.id)
                } else {
                    // The audience has never seen this question.
                    nil
                }
            }
        }
        if hasNewState { events.append(.session(changes.session.state)) }
        return events
    }
}

/// A publication with its encoded forms, which the subscribers of a loop share.
package struct PublishedQuestions {
    package let publication: QuestionPublication
    package let shared: Publication

    /// Returns `nil` for other kinds of publications.
    init?(_ shared: Publication) {
        guard let publication = shared.message as? QuestionPublication else { return nil }
        self.publication = publication
        self.shared = shared
    }

    var frames: QuestionFrames { shared.form { QuestionFrames(publication) } }
}

extension Publication {
    /// Returns the frame with the number of people, encoded once per loop.
    func frame(ofPresence count: Int) -> SharedBytes {
        form {
            SharedBytes { QuestionEvent.presence(count).appendFrame(to: &$0) }
        }
    }
}

/// The frames of a publication, joined and encoded once per loop.
final class QuestionFrames {
    let audience: SharedBytes?
    let presenter: SharedBytes?
    /// One frame per announcement, because not every subscriber receives every announcement.
    let announcements: [SharedBytes]

    init(_ publication: QuestionPublication) {
        audience = Self.encode(publication.events(forPresenter: false))
        presenter = Self.encode(publication.events(forPresenter: true))
        announcements = publication.changes.announcements.compactMap { Self.encode([.announcement($0.content)]) }
    }

    private static func encode(_ events: [QuestionEvent]) -> SharedBytes? {
        guard !events.isEmpty else { return nil }
        var frames: [UInt8] = []
        for event in events { event.appendFrame(to: &frames) }
        return SharedBytes(frames)
    }
}
