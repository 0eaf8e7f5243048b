import Access
import Domain
import FoundationEssentials
import Observability
package import Server
import Sockets
import Wire

/// Enters a session with a WebSocket: `GET /questions/<session>/socket?deviceId=&live=true`.
package struct QuestionSocketController: RouteCollection {
    private let sessions: SessionAccess

    package init(_ sessions: SessionAccess) {
        self.sessions = sessions
    }

    package func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "questions", ":session", "socket", as: QuestionDescriptions.socket,
            compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { _ in SocketLimits.messageBytes }), admit: admit)
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        let (questions, id) = (sessions.questions, try sessions.session(of: request))
        if let entrance = questions.feeds.entrances[id] {
            return .admitted(try admit(request, to: entrance))
        }
        return .unknown {
            guard let entrance = try await questions.feeds.open(id) else { throw RequestError.noSuchSession }
            return try admit(request, to: entrance)
        }
    }

    private func admit(_ request: Request, to entrance: SessionEntrance) throws -> WebSocketRoute.OnUpgrade {
        let (questions, member) = (sessions.questions, try sessions.member(of: entrance, request))
        guard !member.holdsKey,
            let refusal = questions.audience.refusal(of: member.session, from: request.limitedNetwork)
        else { return questions.enter(as: member, on: request.loop) }
        questions.metrics.turnedAway.add()
        throw RequestError.sessionFull(refusal, limit: questions.audience.limit)
    }
}

extension RequestError {
    /// Status `409`: the session has no place for the connection on this daemon.
    fileprivate static func sessionFull(_ refusal: SessionOccupancy.Refusal, limit: Int) -> RequestError {
        let reason =
            switch refusal {
            case .full: "The session already has \(limit) connections, the maximum."
            case .shareTaken: "Your address already has its share of the session's \(limit) connections."
            }
        return RequestError(status: 409, code: "session_full", reason: reason)
    }
}
