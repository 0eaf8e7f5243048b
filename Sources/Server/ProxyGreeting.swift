import Basics
import Sockets
import Wire

/// Reads the PROXY header with which a connection begins, and hands the socket over to TLS or HTTP.
///
/// The header is mandatory: a connection that begins otherwise is closed, since nobody can tell for whom it is.
final class ProxyGreeting: StreamSocketHandler {
    private let server: ServerLoop
    private var peer: Peer
    private var parser = ProxyHeaderParser()

    @discardableResult
    init(on socket: StreamSocket, from peer: Peer, server: ServerLoop) {
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
                peer = Peer(address, by: peer.entrance, trusted: server.application.edge.trustedProxies)
            }
        } catch {
            server.counters.refusedProxies += 1
            return socket.close()
        }
        guard server.count(&peer, for: nil, on: socket) == nil else { return socket.close() }
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[(bytes.count - input.count)...])
        // A TLS handshake may follow the header.
        guard !peer.entrance.isSecure else {
            TLSGreeting(on: socket, from: peer, server: server, received: UnsafeRawBufferPointer(rest))
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
