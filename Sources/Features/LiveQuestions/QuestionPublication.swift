package import Messaging
package import Rooms
import Server
import Sockets

/// What is published in a session's room: everything that has changed since the last time.
package struct QuestionPublication: Message {
    package let changes: QuestionChanges
    /// Whether the session was opened or closed.
    let hasNewState: Bool

    init(_ changes: QuestionChanges, hasNewState: Bool) {
        self.changes = changes
        self.hasNewState = hasNewState
    }

    /// What those are told who follow the session.
    ///
    /// - Parameter forPresenter: Others don't see what isn't approved.
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
                    // Others have never seen it.
                    nil
                }
            }
        }
        if hasNewState { events.append(.session(changes.session.state)) }
        return events
    }
}

/// One of them as it comes to the peers of a loop, with what these make of it for all.
package struct PublishedQuestions {
    package let publication: QuestionPublication
    package let shared: Publication

    /// `nil`: something else was published.
    init?(_ shared: Publication) {
        guard let publication = shared.message as? QuestionPublication else { return nil }
        self.publication = publication
        self.shared = shared
    }

    var frames: QuestionFrames { shared.form { QuestionFrames(publication) } }
}

extension Publication {
    /// How many are there, told to all WebSockets of a loop.
    func frame(ofPresence count: Int) -> SharedBytes {
        form {
            SharedBytes { QuestionEvent.presence(count).appendFrame(to: &$0) }
        }
    }
}

/// What was published in frames, all of them one piece, made once for all WebSockets of a loop that get it.
final class QuestionFrames {
    let audience: SharedBytes?
    let presenter: SharedBytes?
    /// One for each: not everybody gets all of them.
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
