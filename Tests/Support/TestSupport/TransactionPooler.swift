import Foundation
import Glibc

/// A connection pooler in transaction mode in front of one database: a client has a server connection only for the time
/// of a transaction. Notifications of the server to a connection without a client are lost.
///
/// `@unchecked Sendable`: all state is accessed with `gate` locked.
package final class TransactionPooler: @unchecked Sendable {
    /// The connection string of the database through the pooler.
    package let conninfo: String

    private let server: ClientEndpoint
    private let listener: LoopbackListener
    private let maxServers: Int
    private let takesOldest: Bool
    /// Broadcast when a server connection becomes free.
    private let gate = NSCondition()
    private var idle: [Int32] = []
    private var clients: Set<Int32> = []
    /// The server's answer to the first message of a client.
    private var greeting: [UInt8] = []
    private var isClosed = false

    /// - Parameters:
    ///   - maxServers: The number of server connections. All are opened for the first client.
    ///   - takesOldest: Whether a transaction gets the connection that has been idle the longest. Otherwise it gets the
    ///     one that was used last, as by default in PgBouncer.
    package init(toDatabase conninfo: String, maxServers: Int = 1, takesOldest: Bool = false) throws(ClientFailure) {
        let words = ConnectionWords(conninfo)
        server = try words.socket()
        listener = try LoopbackListener()
        self.conninfo = try words.conninfo(through: listener.port)
        self.maxServers = maxServers
        self.takesOldest = takesOldest
        listener.start { [weak self] client in
            guard let self, self.enter(client) else { return false }
            LoopbackListener.thread {
                self.serve(client)
                self.leave(client)
            }
            return true
        }
    }

    /// Ends the pooler and all its connections.
    package func close() {
        gate.withLock {
            isClosed = true
            for connection in clients.union(idle) { shutdown(connection, Int32(SHUT_RDWR)) }
            for connection in idle { Glibc.close(connection) }
            idle = []
            gate.broadcast()
        }
        listener.close()
    }

    // MARK: A client, on its thread

    private func enter(_ client: Int32) -> Bool {
        gate.withLock {
            guard !isClosed else { return false }
            clients.insert(client)
            return true
        }
    }

    private func leave(_ client: Int32) {
        gate.withLock { _ = clients.remove(client) }
        Glibc.close(client)
    }

    private func serve(_ client: Int32) {
        guard let startup = PooledMessage.read(from: client, isTyped: false), greet(client, startup) else { return }
        var held: Int32?
        while let message = PooledMessage.read(from: client), message.type != UInt8(ascii: "X") {
            guard let server = held ?? take() else { break }
            held = server
            guard message.send(to: server) else { break }
            // Query and Sync end a request.
            guard message.type == UInt8(ascii: "Q") || message.type == UInt8(ascii: "S") else { continue }
            guard let isInTransaction = forwardAnswer(from: server, to: client) else { break }
            if !isInTransaction {
                giveBack(server)
                held = nil
            }
        }
        // A transaction that its client has left.
        if let held { Glibc.close(held) }
    }

    /// Opens the server connections at the first client, and answers as the server did.
    private func greet(_ client: Int32, _ startup: PooledMessage) -> Bool {
        gate.withLock {
            guard !isClosed else { return false }
            while greeting.isEmpty || idle.count < maxServers && clients.count == 1 {
                let connection = LoopbackListener.connect(to: server)
                guard connection >= 0, startup.send(to: connection) else { return false }
                greeting = []
                repeat {
                    guard let answer = PooledMessage.read(from: connection) else { return false }
                    greeting += answer.bytes
                    if answer.isReady { break }
                } while true
                idle.append(connection)
            }
            return PooledMessage(bytes: greeting).send(to: client)
        }
    }

    /// - Returns: Whether the session is in a transaction; `nil` if a side has ended.
    private func forwardAnswer(from server: Int32, to client: Int32) -> Bool? {
        while let answer = PooledMessage.read(from: server) {
            guard answer.send(to: client) else { return nil }
            if answer.isReady { return answer.bytes.last != UInt8(ascii: "I") }
        }
        return nil
    }

    // MARK: Server connections

    private func take() -> Int32? {
        gate.withLock {
            while idle.isEmpty, !isClosed { gate.wait() }
            guard !isClosed else { return nil }
            let server = takesOldest ? idle.removeFirst() : idle.removeLast()
            // What the server has sent meanwhile is for no client.
            var poller = pollfd(fd: server, events: Int16(POLLIN), revents: 0)
            while poll(&poller, 1, 0) > 0, PooledMessage.read(from: server) != nil {}
            return server
        }
    }

    private func giveBack(_ server: Int32) {
        gate.withLock {
            guard !isClosed else {
                Glibc.close(server)
                return
            }
            idle.append(server)
            gate.broadcast()
        }
    }
}

/// A message of PostgreSQL's protocol: its type, its length and its content. A client's first message has no type.
private struct PooledMessage {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var type: UInt8? { bytes.first }
    /// ReadyForQuery, whose content says whether the session is in a transaction.
    var isReady: Bool { type == UInt8(ascii: "Z") }

    /// `nil` if the sender has ended.
    static func read(from descriptor: Int32, isTyped: Bool = true) -> PooledMessage? {
        let headSize = isTyped ? 5 : 4
        guard let head = receive(headSize, from: descriptor) else { return nil }
        // The length includes itself.
        let length = head.suffix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length >= 4, let content = receive(length - 4, from: descriptor) else { return nil }
        return PooledMessage(bytes: head + content)
    }

    private static func receive(_ count: Int, from descriptor: Int32) -> [UInt8]? {
        guard count > 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let part = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress?.advanced(by: filled), count - filled, 0)
            }
            if part < 0, errno == EINTR { continue }
            guard part > 0 else { return nil }
            filled += part
        }
        return bytes
    }

    func send(to descriptor: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let part = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if part < 0, errno == EINTR { continue }
            guard part > 0 else { return false }
            sent += part
        }
        return true
    }
}
