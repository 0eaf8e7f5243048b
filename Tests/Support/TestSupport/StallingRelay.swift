import Foundation
import Glibc

/// A TCP relay on 127.0.0.1 between a client and a server that can stop forwarding, drop connections, or be slow, as a
/// bad network does.
///
/// While it doesn't forward, it doesn't read either, except for one piece, so a sender is blocked as by a lost network,
/// although its kernel has the bytes acknowledged.
///
/// `@unchecked Sendable`: all state is accessed with `gate` locked.
package final class StallingRelay: @unchecked Sendable {
    package enum Direction: Hashable, Sendable, CaseIterable {
        case toServer, toClient
    }

    /// The port on 127.0.0.1 to connect to.
    package var port: UInt16 { listener.port }

    private let server: ClientEndpoint
    private let listener: LoopbackListener
    /// Broadcast whenever something changes.
    private let gate = NSCondition()
    private var stalled: Set<Direction> = []
    private var delay: Duration = .zero
    private var connections: [RelayedConnection] = []
    /// Pieces that wait until the relay continues, by direction.
    private var held: [Direction: Int] = [:]
    private var isClosed = false

    /// Listens, and opens a connection to `server` for each connection that it accepts.
    package init(to server: ClientEndpoint) throws(ClientFailure) {
        self.server = server
        listener = try LoopbackListener()
        listener.start { [weak self] client in
            guard let self else { return false }
            self.accept(client)
            return true
        }
    }

    deinit {
        if !isClosed { listener.close() }
    }

    /// Ends the relay and all its connections.
    package func close() {
        change { isClosed = true }
        drop()
        listener.close()
    }

    // MARK: Faults

    /// Forwards nothing in these directions from now on, also on new connections. They are accepted, but receive
    /// nothing.
    package func stall(_ directions: Set<Direction> = Set(Direction.allCases)) {
        change { stalled = directions }
    }

    /// Continues forwarding, beginning with the pieces that were held.
    package func resume() {
        change { stalled = [] }
    }

    /// Never forwards anything again on the open connections, and doesn't close them. Both sides see a half-open
    /// connection.
    package func abandon() {
        change { for connection in connections { connection.isAbandoned = true } }
    }

    /// Closes the open connections on both sides. Held pieces are lost.
    package func drop() {
        change {
            for connection in connections { connection.end() }
            connections = []
        }
    }

    /// Delays each piece by `delay`.
    package func slow(by delay: Duration) {
        change { self.delay = delay }
    }

    // MARK: What is seen

    /// Returns the number of pieces held in a direction.
    package func heldPieces(_ direction: Direction) -> Int {
        gate.withLock { held[direction, default: 0] }
    }

    /// The number of connections that haven't ended.
    package var connectionCount: Int {
        gate.withLock { connections.count { !$0.hasEnded } }
    }

    // MARK: -

    private func change(_ body: () -> Void) {
        gate.withLock {
            body()
            gate.broadcast()
        }
    }

    private func accept(_ client: Int32) {
        let upstream = LoopbackListener.connect(to: server)
        guard upstream >= 0 else {
            Glibc.close(client)
            return
        }
        let connection = RelayedConnection(client: client, server: upstream)
        let isLate = gate.withLock {
            connections.removeAll { $0.hasEnded }
            connections.append(connection)
            return isClosed
        }
        if isLate { connection.end() }
        LoopbackListener.thread { self.forward(connection, .toServer, from: client, to: upstream) }
        LoopbackListener.thread { self.forward(connection, .toClient, from: upstream, to: client) }
    }

    /// Forwards in one direction on its own thread until either side ends.
    private func forward(_ connection: RelayedConnection, _ direction: Direction, from: Int32, to: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(from, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            // The end of the stream is held like any piece, because a lost network doesn't report it.
            guard pass(connection, direction), count > 0 else { break }
            var sent = 0
            while sent < count {
                let part = buffer.withUnsafeBytes { bytes in
                    send(to, bytes.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
                }
                if part < 0, errno == EINTR { continue }
                guard part > 0 else { break }
                sent += part
            }
            guard sent == count else { break }
        }
        change { connection.finish() }
    }

    /// Waits until the piece may be forwarded. Returns `false` if the connection has ended.
    private func pass(_ connection: RelayedConnection, _ direction: Direction) -> Bool {
        gate.lock()
        defer { gate.unlock() }
        if delay > .zero {
            let end = Date(timeIntervalSinceNow: delay / .seconds(1))
            while !connection.hasEnded, gate.wait(until: end) {}
        }
        held[direction, default: 0] += 1
        defer { held[direction, default: 0] -= 1 }
        while !connection.hasEnded, connection.isAbandoned || stalled.contains(direction) { gate.wait() }
        return !connection.hasEnded
    }
}

/// A client's socket and its socket to the server. Accessed with the relay's gate locked, or by the two threads that
/// read from them and release it last.
///
/// `@unchecked Sendable` for that reason.
private final class RelayedConnection: @unchecked Sendable {
    private let client: Int32
    private let server: Int32
    private(set) var hasEnded = false
    var isAbandoned = false
    private var threads = 2

    init(client: Int32, server: Int32) {
        self.client = client
        self.server = server
    }

    /// Ends both sides. The threads notice that and close the descriptors.
    func end() {
        guard !hasEnded else { return }
        hasEnded = true
        shutdown(client, Int32(SHUT_RDWR))
        shutdown(server, Int32(SHUT_RDWR))
    }

    /// Called when a thread ends because one side has ended. Ends the other side too.
    func finish() {
        end()
        threads -= 1
        guard threads == 0 else { return }
        close(client)
        close(server)
    }
}
