import Basics
import Sockets
import Wire

/// Reads the PROXY header of a connection, and passes the socket on to TLS or HTTP.
///
/// The header is mandatory. A connection without it is closed, because its client is unknown.
final class ProxyHandshakeConnection: StreamSocketHandler {
    private let server: ServerShard
    private var peer: HTTPPeer
    private var parser = ProxyHeaderParser()

    @discardableResult
    init(on socket: StreamSocket, from peer: HTTPPeer, server: ServerShard) {
        self.server = server
        self.peer = peer
        socket.handler = self
        socket.deadline = socket.reactor.now + server.application.limits.headerTimeout
    }

    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        var input = UnsafeRawBufferPointer(bytes)
        do throws(ProxyHeaderError) {
            guard let header = try parser.next(&input) else { return }
            if case .source(let address) = header {
                peer = HTTPPeer(address, by: peer.entrance, trusted: server.application.edge.trustedProxies)
            }
        } catch {
            server.counters.refusedProxies += 1
            return socket.close()
        }
        guard server.count(&peer, for: nil, on: socket) == nil else { return socket.close() }
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[(bytes.count - input.count)...])
        // After the header, a TLS handshake may follow.
        guard !peer.entrance.isSecure else {
            TLSHandshakeConnection(on: socket, from: peer, server: server, received: UnsafeRawBufferPointer(rest))
            return
        }
        let connection = HTTPConnection(on: socket, from: peer, server: server)
        if !rest.isEmpty { connection.socket(socket, received: rest) }
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        server.counters.refusedProxies += 1
        server.counters.timedOut(.header)
        socket.close()
    }

    func socketReceivedEnd(_ socket: StreamSocket) { socket.close() }

    func serverStops(_ socket: StreamSocket) { socket.close() }

    func socketDidDrain(_ socket: StreamSocket) {}

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {}
}

/// Waits for a connection's TLS handshake, and passes the socket on to HTTP.
final class TLSHandshakeConnection: TLSHandshakeHandler {
    private let server: ServerShard
    private let peer: HTTPPeer

    /// - Parameter received: Bytes that the peer sent after a PROXY header, which belong to the handshake.
    @discardableResult
    init(on socket: StreamSocket, from peer: HTTPPeer, server: ServerShard, received: UnsafeRawBufferPointer) {
        self.server = server
        self.peer = peer
        // Without a TLS context, no endpoint uses TLS.
        guard let context = server.tls else {
            socket.close()
            return
        }
        socket.deadline = socket.reactor.now + server.application.limits.tlsHandshakeTimeout
        socket.beginTLS(context, handler: self, received: received)
    }

    func socketDidSecure(_ socket: StreamSocket) {
        server.counters.tlsHandshakes += 1
        HTTPConnection(on: socket, from: peer, server: server)
    }

    func socket(_ socket: StreamSocket, handshakeFailed failure: TLSHandshakeFailure, because reason: String) {
        failed(failure, because: reason)
        guard failure == .plainHTTP else { return socket.finish() }
        // The client used `http://` instead of `https://`. The response is in plain text, so that a browser can show
        // it.
        let abort = Abort(
            .badRequest, reason: "This port requires TLS: use an address that begins with https:// or wss://.")
        let response = Response(abort)
        server.counters.responses[response.status.code, default: 0] += 1
        var writer = ResponseWriter(response, on: server, isSecure: false)
        writer.field("Connection", "close")
        writer.contentLength(response.content.count)
        writer.finish(content: response.content)
        socket.enqueue(SharedBytes(writer.bytes))
        socket.finish()
    }

    private func failed(_ failure: TLSHandshakeFailure, because reason: String) {
        server.counters.failedTLSHandshakes[failure, default: 0] += 1
        server.application.edge.tlsHandshakeFailed?(failure, reason)
    }

    func socketDeadlinePassed(_ socket: StreamSocket) {
        failed(.timeout, because: "the handshake timed out")
        socket.close()
    }

    func socketReceivedEnd(_ socket: StreamSocket) {
        failed(.closed, because: "the peer closed the connection")
        socket.close()
    }

    func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        if case .failed = cause { failed(.closed, because: "the peer closed the connection") }
    }

    func serverStops(_ socket: StreamSocket) { socket.close() }

    /// Does nothing: before the end of the handshake, no HTTP bytes arrive.
    func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {}

    func socketDidDrain(_ socket: StreamSocket) {}
}
