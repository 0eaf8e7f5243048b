import Sockets
import Wire

/// Operations on connections, for operators: counting, listing, closing, and draining in steps.
extension Application {
    /// Returns the sum of the loops' counters.
    package func counters() async -> LoopCounters {
        var sum = LoopCounters()
        for loop in loops {
            sum = sum + (await loop.run { self.server(on: $0).counters })
        }
        return sum
    }

    /// Calls `show` with the connections of all loops, a part at a time. The next part is collected after `show`
    /// returns.
    package func connections(_ show: ([ConnectionRecord]) async throws -> Void) async rethrows {
        try await visit([ConnectionRecord]()) { records, connection in
            if !connection.isEnding { records.append(connection.record) }
        } found: { records in
            if !records.isEmpty { try await show(records) }
            return []
        }
    }

    /// Returns the number of connections in a place.
    package func countConnections(in place: String) async -> Int {
        var count = 0
        await visit(0) { count, connection in
            if !connection.isEnding, connection.facts.place == place { count += 1 }
        } found: { found in
            count += found
            return 0
        }
        return count
    }

    /// Closes the connections for which `isMeant` returns `true`, and returns them. A WebSocket's handler may send a
    /// last message before the close frame.
    package func endConnections(where isMeant: @Sendable (ConnectionRecord) -> Bool) async -> [ConnectionRecord] {
        var all: [ConnectionRecord] = []
        await visit([ConnectionRecord]()) { ended, connection in
            guard !connection.isEnding else { return }
            let record = connection.record
            guard isMeant(record) else { return }
            ended.append(record)
            connection.end()
        } found: { ended in
            all += ended
            return []
        }
        return all
    }

    /// Visits all connections, loop by loop. Each turn of a loop visits a bounded number of descriptors.
    ///
    /// - Parameters:
    ///   - initial: The value that the first turn starts with.
    ///   - found: Receives the value of a turn, and returns the value that the next turn starts with. Each turn copies
    ///     this value, so a growing list should be kept outside of it.
    private func visit<Found: Sendable>(
        _ initial: Found, _ look: @Sendable (inout Found, OpenConnection) -> Void,
        found settle: (Found) async throws -> Found
    ) async rethrows {
        var beginning = initial
        for loop in loops {
            var next: Int? = 0
            while let first = next {
                let turn = await loop.run { [beginning] reactor in
                    var found = beginning
                    let next = reactor.forEachSocket(from: first, count: Self.descriptorsPerTurn) { socket in
                        if let connection = OpenConnection(socket) { look(&found, connection) }
                    }
                    return (found: found, next: next)
                }
                next = turn.next
                beginning = try await settle(turn.found)
            }
        }
    }

    private static let descriptorsPerTurn = 2_000

    /// Stops accepting connections. Every response becomes the last one of its connection. WebSockets and streams stay
    /// open until ``endSome(_:keeping:)``.
    ///
    /// - Parameter kept: The audience whose listening sockets stay open, such as monitoring.
    package func beginDrain(keeping kept: Audience) async {
        isDraining = true
        await loops[0].run { self.server(on: $0).stopListening(keeping: kept) }
        for loop in loops { await loop.run { self.server(on: $0).isStopping = true } }
    }

    /// Closes up to `count` connections, in the same way as ``drain(within:)`` closes all connections.
    ///
    /// - Returns: The number of remaining connections, some of which may be closing. Connections of listening sockets
    ///   that stay open aren't included.
    package func endSome(_ count: Int, keeping kept: Audience) async -> Int {
        var left = 0
        await visit((budget: count, left: 0)) { sum, connection in
            guard !connection.isOf(kept) else { return }
            sum.left += 1
            guard sum.budget > 0, connection.isServed else { return }
            sum.budget -= 1
            connection.socket.announceStop()
        } found: { sum in
            left = sum.left
            return sum
        }
        return left
    }
}

/// An open socket with its handler. It is used on its loop.
private struct OpenConnection {
    let socket: StreamSocket
    private let handler: Handler

    private enum Handler {
        case http(HTTPConnection)
        case webSocket(WebSocket)
        case handshake
    }

    /// Returns `nil` if the socket has no handler any more, because it has sent everything and only waits for the
    /// peer's end.
    init?(_ socket: StreamSocket) {
        self.socket = socket
        switch socket.handler {
        case let connection as HTTPConnection: handler = .http(connection)
        case let webSocket as WebSocket: handler = .webSocket(webSocket)
        case nil: return nil
        default: handler = .handshake
        }
    }

    var record: ConnectionRecord {
        let (kind, facts) = kindAndFacts
        return ConnectionRecord(
            id: socket.inode, kind: kind, address: address, facts: facts, unsentBytes: socket.unsentBytes)
    }

    var facts: ConnectionFacts { kindAndFacts.1 }

    private var kindAndFacts: (ConnectionRecord.Kind, ConnectionFacts) {
        switch handler {
        case .http(let connection):
            guard case .streaming(let stream, _, _) = connection.state else { return (.http, ConnectionFacts()) }
            return (.stream, stream.facts?() ?? ConnectionFacts())
        case .webSocket(let webSocket): return (.websocket, webSocket.facts)
        case .handshake: return (.handshake, ConnectionFacts())
        }
    }

    /// The peer's address, or the client's address that a trusted proxy named. For IPv6, the permit has only the
    /// network.
    private var address: IPAddress? {
        let own = socket.peerAddress.map(IPAddress.init)
        guard let counted = (socket.companion as? ConnectionPermit)?.address, own?.subscriber != counted else {
            return own
        }
        return counted
    }

    /// Whether the server must close the connection. Other connections end after their response or timeout.
    var isServed: Bool {
        switch handler {
        case .http(let connection):
            switch connection.state {
            case .idle, .streaming: true
            case .inHead, .inBody, .answering, .awaiting, .draining, .over: false
            }
        case .webSocket(let webSocket): webSocket.isOpen
        case .handshake: true
        }
    }

    /// Whether the server has begun to close the connection and waits for the peer.
    var isEnding: Bool {
        if case .webSocket(let webSocket) = handler { !webSocket.isOpen } else { false }
    }

    func isOf(_ audience: Audience) -> Bool {
        if case .http(let connection) = handler { connection.peer.entrance.audience == audience } else { false }
    }

    func end() {
        switch handler {
        case .http(let connection): connection.endForOperator()
        case .webSocket(let webSocket): webSocket.endForOperator()
        case .handshake: socket.close()
        }
    }
}
