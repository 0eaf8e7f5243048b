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
/// | state     | what comes                 | next state                                     | deadline                    |
/// |-----------|----------------------------|------------------------------------------------|-----------------------------|
/// | idle      | the beginning of a request | in head                                        | header                      |
/// |           | FIN, or the server's end   | over                                           |                             |
/// |           | nothing in time            | over                                           | keep-alive; at first header |
/// | in head   | the rest of it             | in body                                        | body, if there is one       |
/// |           | nothing in time, or wrong  | over, with 408 or 4xx                          |                             |
/// | in body   | the end of the request     | idle, draining or over, with an answer         |                             |
/// |           |                            | awaiting, streaming; over as another's socket  |                             |
/// |           | nothing in time, or wrong  | over, with 408 or 4xx                          |                             |
/// | awaiting  | the answer                 | idle, draining, over or streaming              | none                        |
/// | streaming | its end                    | idle, draining or over                         | write, while bytes wait     |
/// |           | FIN                        | over                                           |                             |
/// | draining  | the peer took all of it    | idle                                           | write                       |
/// | over      |                            |                                                | write                       |
final class HTTPConnection: StreamSocketHandler {
    enum State {
        /// Between requests.
        case idle
        /// Some of a request has come, and not all of its head.
        case inHead
        /// The head has come, and of the content so much.
        case inBody(HTTPRequestHead, [UInt8])
        /// A task works on the answer.
        case awaiting(ServerShard.Ticket)
        case streaming(ResponseStream, isChunked: Bool, keepsAlive: Bool)
        /// The peer has yet to take answers before the next request is read.
        case draining
        /// No more requests: the last answer is on its way.
        case over

        /// What the peer sends is read.
        var isReading: Bool {
            switch self {
            case .idle, .inHead, .inBody: true
            case .awaiting, .streaming, .draining, .over: false
            }
        }
    }

    let socket: StreamSocket
    let server: ServerShard
    var peer: HTTPPeer
    private var parser: HTTPRequestParser
    var state = State.idle
    /// Bytes that came while a request was being answered.
    var backlog: [UInt8] = []
    private var isParsing = false
    private var hasAnswered = false
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
                case .body(let bytes): append(bytes)
                case .end: complete(rest: &input)
                }
            }
        } catch {
            return refuse(Abort(HTTPStatus(code: error.status), reason: error.reason))
        }
        if !input.isEmpty { keep(input) }
        noteHead()
    }

    /// The parser gives no event for a head that isn't whole: has one begun?
    private func noteHead() {
        switch (state, parser.position) {
        case (.idle, .inHead):
            state = .inHead
            // That of a new connection counts from its beginning.
            if hasAnswered { socket.deadline = socket.reactor.now + limits.headerTimeout }
        case (.inHead, .betweenRequests):
            // It was the empty line that some send behind a request.
            state = .idle
        default: break
        }
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
        state = .inBody(head, [])
        // The peer waits for our consent (RFC 9110 §10.1.1); the parser has refused a length over the limit.
        if head.expectsContinue {
            socket.enqueue(SharedBytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
        }
        if head.bodyFraming != .none { socket.deadline = socket.reactor.now + limits.bodyTimeout }
    }

    private func append(_ bytes: UnsafeRawBufferPointer) {
        guard case .inBody(let head, var content) = state else { return }
        // The content is ours alone while it grows, or it would be copied.
        state = .idle
        content.append(contentsOf: bytes)
        state = .inBody(head, content)
    }

    private func complete(rest input: inout UnsafeRawBufferPointer) {
        guard case .inBody(let head, let content) = state else { return }
        state = .idle
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
                head: head, body: content, parameters: parameters, loop: server.loop, isSecure: isSecure(head),
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
                connection.state = .idle
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
        hasAnswered = true
        guard keepsAlive else { return end() }
        guard socket.unsentBytes > limits.sendQueueBytes else {
            state = .idle
            return
        }
        state = .draining
        socket.reportsDrain = true
        socket.deadline = socket.reactor.now + limits.writeTimeout
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
        // Every answer is out or on its way, and the peer has no more requests. (Whoever closes in the midst of one takes it
        // back.)
        if socket.peerEnded { return end() }
        guard case .idle = state else { return }
        if server.isStopping { return end() }
        // A new connection has the time of a head, whatever comes before that.
        if hasAnswered { socket.deadline = socket.reactor.now + limits.keepAliveTimeout }
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

    private func refuseLate() {
        refuse(Abort(.requestTimeout, reason: "The request did not come whole in time."))
    }

    // MARK: The socket

    func socketDidDrain(_ socket: StreamSocket) {
        if case .streaming(let stream, _, _) = state {
            socket.deadline = .distantFuture
            stream.drained?()
        } else if case .draining = state {
            state = .idle
            socket.reportsDrain = false
            proceed()
        }
    }

    func socketReceivedEnd(_ socket: StreamSocket) {
        switch state {
        case .idle, .inHead, .inBody:
            awaitMore()
        case .streaming:
            // The reader of a stream has nothing to send; its FIN says that it left.
            endStream(tellingIt: true)
            socket.close()
        case .awaiting, .draining, .over:
            break
        }
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        switch state {
        case _ where state.isReading && socket.unsentBytes > 0:
            server.counters.timedOut(.write)
            socket.close()
        case .idle:
            server.counters.timedOut(hasAnswered ? .keepAlive : .header)
            end()
        case .inHead:
            server.counters.timedOut(.header)
            refuseLate()
        case .inBody:
            server.counters.timedOut(.body)
            refuseLate()
        case .streaming, .draining:
            server.counters.slowPeers += 1
            server.counters.timedOut(.write)
            endStream(tellingIt: true)
            socket.close()
        case .awaiting, .over:
            break
        }
    }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        if cause == .sendQueueFull { server.counters.slowPeers += 1 }
        if case .awaiting(let ticket) = state { server.forget(ticket) }
        endStream(tellingIt: true)
        state = .over
    }

    func serverStops(_ socket: StreamSocket) {
        switch state {
        case .idle:
            end()
        case .streaming(let stream, _, _):
            let closed = stream.closed
            stream.closed = nil
            closed?()
            finishStream()
        case .inHead, .inBody, .awaiting, .draining, .over:
            break
        }
    }
}
