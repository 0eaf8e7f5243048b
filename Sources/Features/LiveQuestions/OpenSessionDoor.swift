import Access
import Messaging
package import Server

/// Serves `GET /socket` without an id, which enters the session for everyone.
package struct OpenSessionDoor {
    private let sessions: SessionAccess

    package init(_ sessions: SessionAccess) {
        self.sessions = sessions
    }

    package var maxMessageBytes: Int { SocketLimits.messageBytes }

    package func admit(_ request: Request) throws {
        _ = try member(request)
    }

    package func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has allowed it. A ticket may have expired since.
        sessions.enter(request, webSocket, as: try? member(request))
    }

    private func member(_ request: Request) throws -> QuestionMember {
        try sessions.questions.member(
            of: QuestionSession.open.id, sessions.identities.identity(of: request.head), isPresenter: true,
            isLive: false)
    }
}
