import Domain
import FoundationEssentials
import Sockets

/// Performs a presenter's actions. The database checks the keys first. Any thread may use it.
struct SessionModeration: Sendable {
    let questions: Questions

    /// Creates a session.
    ///
    /// - Returns: The session, and the presenter's key, which can't be read again.
    func makeSession(_ asked: SessionRequest) async throws -> (QuestionSession, key: PresenterKey) {
        let key = try PresenterKey.random()
        return (try await questions.store.makeSession(asked, key: key), key)
    }

    func moderate(
        _ question: UUID, _ action: QuestionAction, answer: String?, keys: [PresenterKeyDigest], opensAll: Bool
    ) async throws -> Question {
        let (question, version) = try await questions.store.moderate(
            question, action, answer: answer, keys: keys, opensAll: opensAll)
        await questions.feeds.changed(question.session, to: version)
        return question
    }

    func set(
        _ session: UUID, to state: QuestionSession.State, keys: [PresenterKeyDigest]
    ) async throws -> QuestionSession {
        let session = try await questions.store.set(session, to: state, keys: keys)
        await questions.feeds.changed(session.id, to: session.version)
        return session
    }

    /// Sends an announcement.
    ///
    /// - Returns: The number of this daemon's connections that receive it.
    func announce(
        _ announcement: AnnouncementRequest, in session: UUID, keys: [PresenterKeyDigest]
    ) async throws -> Int {
        let version = try await questions.store.announce(announcement, in: session, keys: keys)
        var count = 0
        for loop in questions.loops {
            count += await loop.run { reactor in
                questions.shard(on: reactor, loop: loop).count(
                    in: session, WebSocketSendOption(announcement.recipients))
            }
        }
        await questions.feeds.changed(session, to: version)
        return count
    }
}
