import Basics
import Sockets
import Wire

/// The way from a complete request to its response: a refusal, or the handler of its route.
extension HTTPConnection {
    func complete(rest input: inout UnsafeRawBufferPointer) {
        guard let (head, content) = state.takeRequest() else { return }
        socket.deadline = .distantFuture
        if let refusal = refusalOfAddress(head) { return answer(refusal, to: head) }
        let match = server.application.responder.router.match(head, for: peer.entrance.audience)
        if let refusal = refusalOfPace(head, match) { return refusePace(refusal, to: head) }
        if let refusal = refusalOfHost(head, match) ?? refusalOfWrite(head)
            ?? refusalOfCoding(head)
        {
            return answer(refusal, to: head)
        }
        switch match {
        case .found(let route, let parameters):
            let request = Request(
                head: head, body: content, parameters: parameters, loop: server.loop, transport: peer.transport,
                permit: peer.permit)
            serve(request, route.endpoint, rest: &input)
        case .methodNotAllowed(_, isWebSocket: true) where WebSocketHandshake.isAsked(by: head):
            let refusal = WebSocketHandshakeError.notGet
            answer(Abort(refusal.status, reason: refusal.reason), to: head)
        case .methodNotAllowed(let allow, _):
            let allow = HTTPField("Allow", allow)
            guard head.method != .options else {
                let fields = [allow] + preflight(head, allowing: allow.value)
                return answer(Response(.noContent, headers: fields), to: head)
            }
            let reason = "\(head.method.name) is not supported here. Supported methods: \(allow.value)."
            answer(Abort(.methodNotAllowed, reason: reason, headers: [allow]), to: head)
        case .notFound where head.method == .options && head.targetForm == .asterisk:
            answer(Response(.noContent, headers: [HTTPField("Allow", "GET, HEAD, POST, DELETE, OPTIONS")]), to: head)
        case .notFound:
            answer(Abort(.notFound, reason: "There is nothing at \(head.rawPath)."), to: head)
        }
    }

    private func serve(_ request: Request, _ endpoint: Route.Endpoint, rest input: inout UnsafeRawBufferPointer) {
        switch endpoint {
        case .synchronous(let handler):
            answer(server.application.responder.respond(to: request, with: handler), to: request.head)
        case .asynchronous(let handler):
            awaitAnswer { [application = server.application] in
                await application.responder.respond(to: request, with: handler)
            } then: { connection, response in
                connection.answer(response, to: request.head)
            }
        case .webSocket(let route):
            if let refusal = refusalOfUpgrade(request.head) {
                return answer(refusal, to: request.head)
            }
            // The peer may already have sent bytes after its request. They are kept for the other loop or for the
            // WebSocket.
            keep(input)
            input = UnsafeRawBufferPointer(start: nil, count: 0)
            if let target = server.application.loop(route.affinity(request)), target.index != server.loop.index {
                move(request, route, to: target)
            } else {
                serve(request, route)
            }
        }
    }

    /// Runs `work` in a task. When it has ended, calls `then` with the result on the loop, if the connection still
    /// exists.
    func awaitAnswer<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        then: @escaping @Sendable (HTTPConnection, Result) -> Void
    ) {
        let ticket = server.ticket(for: self)
        state = .awaiting(ticket)
        // The connection has no deadline while the handler works, because the handler has its own time limits.
        socket.deadline = .distantFuture
        let (loop, application, requester) = (server.loop, server.application, peer.permit?.requester)
        Task(executorPreference: application.responder.executor) {
            let result = await Requester.$current.withValue(requester) { await work() }
            loop.submit { reactor in
                guard let connection = application.server(on: reactor).redeem(ticket) else { return }
                connection.state = .answering
                then(connection, result)
                connection.proceed()
            }
        }
    }
}
