package import Access
import Domain
import FoundationEssentials
import Messaging
import Observability
package import Server
import Sockets
import Wire

/// `GET /questions/<session>/socket?deviceId=&live=true`: the way into a session.
package struct QuestionSocketController: RouteCollection, Sendable {
    let questions: Questions
    /// Whether ``QuestionSession/open`` is there.
    let hasOpenSession: Bool
    let identities: IdentityVerifier

    package init(questions: Questions, hasOpenSession: Bool, identities: IdentityVerifier) {
        self.questions = questions
        self.hasOpenSession = hasOpenSession
        self.identities = identities
    }

    package func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "questions", ":session", "socket", as: QuestionDescriptions.socket, admit: admit,
            compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { _ in SocketLimits.messageBytes }), onUpgrade: enter)
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        guard let id = request.parameters["session"].flatMap(UUID.init(text:)) else {
            throw RequestError.invalid("A session is named by its UUID.")
        }
        guard hasOpenSession || id != QuestionSession.open.id else { throw RequestError.noSuchSession }
        guard !questions.audience.isFull(id) else {
            questions.metrics.turnedAway.add()
            throw Abort(
                .conflict, code: "session_full",
                reason: "The session has \(questions.audience.limit) sockets, its limit.")
        }
        if let entrance = questions.feeds.entrances[id] {
            _ = try member(of: entrance, request)
            return .admitted
        }
        return .unknown {
            guard let entrance = try await questions.feeds.open(id) else { throw RequestError.noSuchSession }
            _ = try member(of: entrance, request)
        }
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has seen that there is one. Should it have been forgotten since, because the last one has just left: then the
        // newcomer is nobody in particular, and comes again.
        guard
            let entrance = request.parameters["session"].flatMap(UUID.init(text:)).flatMap({
                questions.feeds.entrances[$0]
            }), let member = try? member(of: entrance, request)
        else {
            webSocket.close(.tryAgainLater, "please come again")
            return NoQuestions()
        }
        return questions.enter(webSocket, member, loop: request.loop)
    }

    /// Who asks to come in.
    private func member(of entrance: SessionEntrance, _ request: Request) throws -> QuestionMember {
        let session = entrance.session.id
        // A page of another server's gets no WebSocket, so cookies are ours.
        let isPresenter = entrance.isPresenter(
            try PresenterCredentials(request, acceptsCookies: true).digests())
        // A presenter's `Authorization` is the key; anybody else's may be a ticket.
        let identity = try identities.identity(of: request.head, bearer: entrance.key == nil || !isPresenter)
        var isLive = false
        request.head.withQueryValue("live") { isLive = $0.elementsEqual("true".utf8) }
        return try questions.member(of: session, identity, isPresenter: isPresenter, isLive: isLive)
    }
}

/// Says nothing, and hears nothing.
private final class NoQuestions: WebSocketHandler {
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {}
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {}
}

/// `GET /socket` without an id: into the session that is everybody's.
package struct OpenSessionDoor {
    let questions: Questions
    let identities: IdentityVerifier

    package init(questions: Questions, identities: IdentityVerifier) {
        self.questions = questions
        self.identities = identities
    }

    package var maxMessageBytes: Int { SocketLimits.messageBytes }

    package func admit(_ request: Request) throws {
        _ = try member(request)
    }

    package func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has seen that it may. A ticket may have ended since.
        guard let member = try? member(request) else {
            webSocket.close(.tryAgainLater, "please come again")
            return NoQuestions()
        }
        return questions.enter(webSocket, member, loop: request.loop)
    }

    private func member(_ request: Request) throws -> QuestionMember {
        try questions.member(
            of: QuestionSession.open.id, identities.identity(of: request.head), isPresenter: true, isLive: false)
    }
}
