import Access
import Features
import Server

/// Handles `GET /socket` without an id. The socket enters the session for everyone.
struct OpenSessionSockets: DefaultSocketHandler {
    private let sessions: SessionAccess

    init(_ sessions: SessionAccess) {
        self.sessions = sessions
    }

    var maxMessageBytes: Int { SocketLimits.messageBytes }

    func admit(_ request: Request) throws -> WebSocketRoute.OnUpgrade {
        let member = try sessions.questions.member(
            of: QuestionSession.open.id, sessions.identities.identity(of: request.head), isPresenter: true,
            isLive: false)
        return sessions.questions.enter(as: member, on: request.loop)
    }
}
