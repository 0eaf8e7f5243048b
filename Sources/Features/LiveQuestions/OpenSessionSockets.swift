import Access
import Messaging
package import Server

/// Serves `GET /socket` without an id, which enters the session for everyone.
package struct OpenSessionSockets {
    private let sessions: SessionAccess

    package init(_ sessions: SessionAccess) {
        self.sessions = sessions
    }

    package var maxMessageBytes: Int { SocketLimits.messageBytes }

    package func admit(_ request: Request) throws -> WebSocketRoute.OnUpgrade {
        let member = try sessions.questions.member(
            of: QuestionSession.open.id, sessions.identities.identity(of: request.head), isPresenter: true,
            isLive: false)
        return sessions.questions.enter(as: member, on: request.loop)
    }
}
