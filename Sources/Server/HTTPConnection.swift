import Basics
import Sockets
import Wire

/// HTTP/1.1 over one socket: requests in, answers out, in order (RFC 9112).
///
/// ```
/// bytes ─► HTTPRequestParser ─► request complete ─► route ─┬─ answers at once ──► answer
///                                                          ├─ in a task ─ ticket ─► answer
///                                                          ├─ stream ───► chunk, chunk, …
///                                                          └─ WebSocket ─► another handler takes the socket
/// ```
///
/// One request is answered at a time; what the peer pipelines meanwhile waits in a bounded buffer, then in the kernel.
///
/// What it is at is a value, ``HTTPConnectionState``, which has the table of it.
final class HTTPConnection: StreamSocketHandler {
    typealias State = HTTPConnectionState<ServerShard.Ticket, ResponseStream>

    let socket: StreamSocket
    let server: ServerShard
    var peer: HTTPPeer
    private var parser: HTTPRequestParser
    var state = State.idle(since: .connection)
    /// Bytes that came while a request was being answered.
    var backlog: [UInt8] = []
    private var isParsing = false
    /// Requests that came too fast, without one between that didn't.
    var refusalsInARow: UInt8 = 0

    var limits: ServerLimits { server.application.limits }

    /// Begins to serve a connection.
    @discardableResult
    init(on socket: StreamSocket, from peer: HTTPPeer, server: ServerShard) {
        self.socket = socket
        self.peer = peer
        self.server = server
        parser = HTTPRequestParser(limits: server.application.limits.http)
        socket.handler = self
        socket.deadline = socket.reactor.now + limits.headerTimeout
    }

    // MARK: Requests

    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        guard state.isReading else { return keep(UnsafeRawBufferPointer(bytes)) }
        parse(UnsafeRawBufferPointer(bytes))
        proceed()
    }

    /// Puts bytes aside until the request in hand is answered; with a full buffer, the kernel keeps the rest.
    private func keep(_ bytes: UnsafeRawBufferPointer) {
        if case .streaming = state, backlog.count + bytes.count > Self.streamBacklogBytes { return letGoOfReader() }
        backlog.append(contentsOf: bytes)
        if backlog.count >= Reactor.receiveBufferSize { socket.setReading(false) }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) {
        var input = bytes
        isParsing = true
        defer { isParsing = false }
        do throws(HTTPParseError) {
            // Not beyond a request whose answer takes time, or is not taken: so the peer can't have more answers made than
            // wait for it.
            while state.isReading, let event = try parser.next(&input) {
                switch event {
                case .head(let head): begin(head)
                case .body(let bytes): state.append(bytes)
                case .end: complete(rest: &input)
                }
            }
        } catch {
            return refuse(Abort(HTTPStatus(code: error.status), reason: error.reason))
        }
        if !input.isEmpty { keep(input) }
        limit(by: state.parsed(isInHead: parser.position == .inHead))
    }

    /// The peer has as long as this limit allows from now on.
    private func limit(by limit: TimeLimit?) {
        guard let limit else { return }
        socket.deadline = socket.reactor.now + limits[limit]
    }

    /// Goes on after an answer, with what was put aside or what will come.
    func proceed() {
        guard !isParsing else { return }
        while state.isReading {
            guard !backlog.isEmpty else { return awaitMore() }
            let bytes = backlog
            backlog = []
            socket.setReading(true)
            bytes.withUnsafeBytes(parse)
        }
    }

    private func begin(_ head: HTTPRequestHead) {
        limit(by: state.began(head))
        // The peer waits for our consent (RFC 9110 §10.1.1); the parser has refused a length over the limit.
        if head.expectsContinue {
            socket.enqueue(SharedBytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
        }
    }

    private func complete(rest input: inout UnsafeRawBufferPointer) {
        guard let (head, content) = state.takeRequest() else { return }
        socket.deadline = .distantFuture
        if let refusal = refusalOfAddress(head) { return answer(Response(refusal), to: head) }
        let match = server.application.router.match(head, for: peer.entrance.audience)
        if let refusal = refusalOfPace(head, match) { return refusePace(refusal, to: head) }
        if let refusal = refusalOfHost(head, match) ?? refusalOfWrite(head) {
            return answer(Response(refusal), to: head)
        }
        switch match {
        case .found(let route, let parameters):
            let request = Request(
                head: head, body: content, parameters: parameters, loop: server.loop, transport: peer.transport,
                permit: peer.permit)
            serve(request, route.endpoint, rest: &input)
        case .methodNotAllowed(_, isWebSocket: true) where WebSocketHandshake.isAsked(by: head):
            let refusal = WebSocketHandshakeError.notGet
            answer(Response(Abort(refusal.status, reason: refusal.reason)), to: head)
        case .methodNotAllowed(let allow, _):
            let allow = HTTPField("Allow", allow)
            guard head.method != .options else {
                let fields = [allow] + preflight(head, allowing: allow.value)
                return answer(Response(.noContent, headers: fields), to: head)
            }
            let reason = "\(head.method.name) is not among the methods of this path: \(allow.value)."
            answer(Response(Abort(.methodNotAllowed, reason: reason, headers: [allow])), to: head)
        case .notFound where head.method == .options && head.targetForm == .asterisk:
            answer(Response(.noContent, headers: [HTTPField("Allow", "GET, HEAD, POST, DELETE, OPTIONS")]), to: head)
        case .notFound:
            answer(Response(Abort(.notFound, reason: "There is nothing at \(head.rawPath).")), to: head)
        }
    }

    private func serve(_ request: Request, _ endpoint: Route.Endpoint, rest input: inout UnsafeRawBufferPointer) {
        switch endpoint {
        case .synchronous(let handler):
            answer(respond(to: request, with: handler), to: request.head)
        case .asynchronous(let handler):
            awaitAnswer { [application = server.application] in
                await application.respond(to: request, with: handler)
            } then: { connection, response in
                connection.answer(response, to: request.head)
            }
        case .webSocket(let route):
            if let refusal = refusalOfUpgrade(request.head) {
                return answer(Response(refusal), to: request.head)
            }
            // What the peer sent behind its handshake goes along, to the other loop or to the WebSocket.
            keep(input)
            input = UnsafeRawBufferPointer(start: nil, count: 0)
            if let target = server.application.loop(route.affinity(request)), target.index != server.loop.index {
                move(request, route, to: target)
            } else {
                serve(request, route)
            }
        }
    }

    private func respond(to request: Request, with handler: Route.Handler) -> Response {
        do {
            return try handler(request)
        } catch {
            return server.application.response(to: error)
        }
    }

    /// Runs `work` in a task and, back on the loop, gives its result to `then` if the connection still is.
    func awaitAnswer<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result,
        then: @escaping @Sendable (HTTPConnection, Result) -> Void
    ) {
        let ticket = server.ticket(for: self)
        state = .awaiting(ticket)
        // The handler has time limits of its own: those of what it waits for.
        socket.deadline = .distantFuture
        let (loop, application) = (server.loop, server.application)
        Task(executorPreference: application.handlerExecutor) {
            let result = await work()
            loop.submit { reactor in
                guard let connection = application.server(on: reactor).redeem(ticket) else { return }
                connection.state = .answering
                then(connection, result)
                connection.proceed()
            }
        }
    }

    // MARK: Answers

    /// - Parameter isLast: Whether the connection ends with it, whatever the request says.
    func answer(_ response: Response, to head: HTTPRequestHead, isLast: Bool = false) {
        // HTTP/1.0 has no chunks: there a stream ends with the connection.
        let isDelimited = head.version == .http11 || !response.isStream || head.method == .head
        let keepsAlive = head.isKeepAlive && isDelimited && !isLast && !server.isStopping
        server.counters.responses[response.status.code, default: 0] += 1
        var writer = ResponseWriter(response, on: server, isSecure: peer.entrance.isSecure)
        if !keepsAlive {
            writer.field("Connection", "close")
        } else if head.version == .http10 {
            writer.field("Connection", "keep-alive")
        }
        writer.share(head, with: server.application.edge.allowedOrigins)
        if case .stream(let start) = response.body {
            return stream(start, writer, to: head, keepsAlive: keepsAlive)
        }
        let content = response.content
        if !response.status.forbidsBody { writer.contentLength(content.count) }
        let sendsContent = head.method != .head && !response.status.forbidsBody
        writer.finish(content: sendsContent ? content : [])
        socket.enqueue(SharedBytes(writer.bytes))
        answered(keepsAlive: keepsAlive)
    }

    func answered(keepsAlive: Bool) {
        state.answered(keepsAlive: keepsAlive, isTaken: socket.unsentBytes <= limits.sendQueueBytes)
        switch state {
        case .over: end()
        case .draining:
            socket.reportsDrain = true
            limit(by: .write)
        default: break
        }
    }

    /// An operator ends it, whatever it is at.
    func endForOperator() {
        if case .streaming = state { serverStops(socket) }
        if case .idle = state { end() } else { socket.close() }
    }

    /// The last answer is enqueued.
    private func end() {
        state = .over
        socket.finish(sending: limits.writeTimeout)
    }

    /// Nothing of the next request, or not all of it, has come.
    private func awaitMore() {
        switch state.waits(peerHasEnded: socket.peerEnded, serverStops: server.isStopping) {
        case .end: end()
        case .goOn(let newLimit): limit(by: newLimit)
        }
    }

    /// Answers what is no request, and ends the connection: what follows can't be told from the next request.
    private func refuse(_ abort: Abort) {
        server.counters.responses[abort.status.code, default: 0] += 1
        let response = Response(abort)
        var writer = ResponseWriter(response, on: server, isSecure: peer.entrance.isSecure)
        writer.field("Connection", "close")
        var sendsContent = true
        if case .inBody(let head, _) = state {
            writer.share(head, with: server.application.edge.allowedOrigins)
            sendsContent = head.method != .head
        }
        writer.contentLength(response.content.count)
        writer.finish(content: sendsContent ? response.content : [])
        socket.enqueue(SharedBytes(writer.bytes))
        end()
    }

    // MARK: The socket

    func socketDidDrain(_ socket: StreamSocket) {
        if case .streaming(let stream, _, _) = state {
            socket.deadline = .distantFuture
            stream.drained?()
        } else if state.drained() {
            socket.reportsDrain = false
            proceed()
        }
    }

    func socketReceivedEnd(_ socket: StreamSocket) {
        if state.isReading {
            awaitMore()
        } else if case .streaming = state {
            // The reader of a stream has nothing to send; its FIN says that it left.
            letGoOfReader()
        }
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        guard let (limit, ending) = state.late(isTaken: socket.unsentBytes == 0) else { return }
        server.counters.timedOut(limit)
        end(by: ending)
    }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        if cause == .sendQueueFull { server.counters.slowPeers += 1 }
        if case .awaiting(let ticket) = state { server.forget(ticket) }
        endStream(tellingIt: true)
        state = .over
    }

    func serverStops(_ socket: StreamSocket) {
        if let ending = state.endingWithServer { end(by: ending) }
    }

    private func end(by ending: HTTPConnectionEnding) {
        switch ending {
        case .finish: end()
        case .refuse: refuse(Abort(.requestTimeout, reason: "The request did not come whole in time."))
        case .close: socket.close()
        case .cutOff:
            server.counters.slowPeers += 1
            endStream(tellingIt: true)
            socket.close()
        case .finishStream:
            if case .streaming(let stream, _, _) = state {
                let closed = stream.closed
                stream.closed = nil
                closed?()
            }
            finishStream()
        }
    }
}
