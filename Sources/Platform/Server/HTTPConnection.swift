import Basics
import Sockets
import Wire

/// HTTP/1.1 over one socket: requests in, responses out, in order (RFC 9112).
///
/// ```
/// bytes ─► HTTPRequestParser ─► complete request ─► route ─┬─ at once ─────────► response
///                                                          ├─ in a task ─ ticket ─► response
///                                                          ├─ stream ───► chunk, chunk, …
///                                                          └─ WebSocket ─► another handler takes the socket
/// ```
///
/// One request is answered at a time. Bytes of later requests wait in a bounded buffer. When it is full, they wait in
/// the kernel.
///
/// ``HTTPConnectionState`` is the value that decides. Its documentation has the table of states.
final class HTTPConnection: StreamSocketHandler {
    typealias State = HTTPConnectionState<ServerShard.Ticket, ResponseStream>

    let socket: StreamSocket
    let server: ServerShard
    var peer: HTTPPeer
    private var parser: HTTPRequestParser
    var state = State.idle(since: .connection)
    /// Bytes that arrived while the connection was answering a request.
    var backlog: [UInt8] = []
    private var isParsing = false
    /// The number of requests in a row that exceeded a rate.
    var refusalsInARow: UInt8 = 0

    var limits: ServerLimits { server.application.limits }

    /// Starts to serve a connection.
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

    /// Keeps bytes until the current request is answered. When the buffer is full, further bytes stay in the kernel.
    func keep(_ bytes: UnsafeRawBufferPointer) {
        if case .streaming = state, backlog.count + bytes.count > Self.streamBacklogBytes { return abandonStream() }
        backlog.append(contentsOf: bytes)
        if backlog.count >= Reactor.receiveBufferSize { socket.setReading(false) }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer) {
        var input = bytes
        isParsing = true
        defer { isParsing = false }
        do throws(HTTPParseError) {
            // The loop stops before the next request while a response is pending or the peer hasn't taken enough. A
            // peer therefore can't cause more responses than it takes.
            while state.isReading, let event = try parser.next(&input) {
                switch event {
                case .head(let head): begin(head)
                case .body(let bytes): state.append(bytes)
                case .end: complete(rest: &input)
                }
            }
        } catch {
            return refuse(
                Abort(HTTPStatus(code: error.status), reason: error.reason), origin: parser.refusedOrigin)
        }
        if !input.isEmpty { keep(input) }
        limit(by: state.parsed(isInHead: parser.position == .inHead))
    }

    /// Sets the deadline to the present time plus this limit.
    private func limit(by limit: TimeLimit?) {
        guard let limit else { return }
        socket.deadline = socket.reactor.now + limits[limit]
    }

    /// Continues after a response, with kept bytes or with new bytes.
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
        // The peer waits for `100 Continue` (RFC 9110 §10.1.1). The parser has already refused content that is too
        // long.
        if head.expectsContinue {
            socket.enqueue(SharedBytes(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)))
        }
    }

    // MARK: After an answer

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

    /// Ends the connection in any state, because an operator wants it.
    func endForOperator() {
        if case .streaming = state { serverStops(socket) }
        if case .idle = state { end() } else { socket.close() }
    }

    /// Ends the connection after its last response was enqueued.
    func end() {
        state = .over
        socket.finish(sending: limits.writeTimeout)
    }

    /// Waits for the next request, or for the rest of the present one.
    private func awaitMore() {
        switch state.waits(peerHasEnded: socket.peerEnded, serverStops: server.isStopping) {
        case .end: end()
        case .wait(let newLimit): limit(by: newLimit)
        }
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
            // The reader of a stream has nothing to send, so its FIN means that it has gone.
            abandonStream()
        }
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        guard let (limit, ending) = state.late(isTaken: socket.unsentBytes == 0) else { return }
        server.counters.timedOut(limit)
        end(by: ending)
    }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        if cause == .sendQueueFull { server.counters.slowPeers += 1 }
        if case .awaiting(let ticket) = state { server.discard(ticket) }
        endStream(isReported: true)
        state = .over
    }

    func serverStops(_ socket: StreamSocket) {
        if let ending = state.endingWithServer { end(by: ending) }
    }

    private func end(by ending: HTTPConnectionEnding) {
        switch ending {
        case .finish: end()
        case .refuse: refuse(Abort(.requestTimeout, reason: "The request was not completed in time."))
        case .close: socket.close()
        case .cutOff:
            server.counters.slowPeers += 1
            endStream(isReported: true)
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
