import Sockets
import Wire

/// The connections, for operators: counted, seen, ended, and let go of a few at a time.
extension Application {
    /// What the loops have counted, together.
    package func counters() async -> LoopCounters {
        var sum = LoopCounters()
        for loop in loops {
            sum = sum + (await loop.run { self.server(on: $0).counters })
        }
        return sum
    }

    /// Calls `show` with those of all loops, some at a time: the next are looked for when it returns.
    package func connections(_ show: ([ConnectionRecord]) async throws -> Void) async rethrows {
        try await visit([ConnectionRecord]()) { records, connection in
            if !connection.isEnding { records.append(connection.record) }
        } found: { records in
            if !records.isEmpty { try await show(records) }
            return []
        }
    }

    /// How many are in a place.
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

    /// Ends those that `isMeant`: a WebSocket by its handler's last word and a close frame.
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

    /// The loops are asked one after the other, each for so many descriptors in a turn that nobody notices.
    ///
    /// - Parameters:
    ///   - initial: What the first turn begins with.
    ///   - found: Takes what a turn has found, and says with what the next one begins: what grows is to stay out of the turns, each of which
    ///     has a copy.
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

    /// Takes no new connections any more, and has every answer be its connection's last. WebSockets and streams stay until
    /// ``endSome(_:keeping:)``.
    ///
    /// - Parameter kept: Whose listeners stay: those who watch.
    package func beginDrain(keeping kept: Audience) async {
        isDraining = true
        await loops[0].run { self.server(on: $0).stopListening(keeping: kept) }
        for loop in loops { await loop.run { self.server(on: $0).isStopping = true } }
    }

    /// Has so many connections end, as ``drain(within:)`` has all.
    ///
    /// - Returns: How many are left, of which some may be about to end; but for those of listeners that were kept.
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

/// A socket that somebody speaks over. On its loop.
private struct OpenConnection {
    let socket: StreamSocket
    private let handler: Handler

    private enum Handler {
        case http(HTTPConnection)
        case webSocket(WebSocket)
        case handshake
    }

    /// `nil` when it has been told all, and lingers.
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

    /// The peer's, or the one that a trusted proxy has named, of which limits keep no more of an IPv6 address than its network.
    private var address: IPAddress? {
        let own = socket.peerAddress.map(IPAddress.init)
        guard let counted = (socket.companion as? ConnectionPermit)?.address, own?.subscriber != counted else {
            return own
        }
        return counted
    }

    /// Whether it can be told to end: others do by themselves, after their answer or their time.
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

    /// Whether it was told to end, and its peer has yet to agree.
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
