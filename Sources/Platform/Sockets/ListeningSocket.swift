import CLinux
import Glibc

/// A socket that accepts connections on one event loop.
///
/// If the process or the system has no descriptors or memory left, the socket pauses and tries again later. During the
/// pause, new connections wait in the kernel's backlog.
package final class ListeningSocket: Pollable {
    private static let backlog: CInt = 4096
    /// The maximum number of connections that are accepted in one turn. The poller reports the socket again for the
    /// rest.
    private static let maxAcceptsPerTurn = 64
    /// The number of full turns after which ``acceptsPerTurn`` is doubled. A turn is full if it accepts that many
    /// connections.
    private static let turnsBeforeMore = 8
    private static let restTime = Duration.milliseconds(200)

    /// The bound address, with the port that the kernel chose if 0 was requested.
    package let address: SocketAddress
    private var isClosed = false
    /// The number of connections that are accepted in one turn. Connections mostly come one at a time. An `accept`
    /// without a waiting connection is expensive, because the kernel makes and frees a socket and a file.
    private var acceptsPerTurn = 1
    private var fullTurns = 0
    private var reactor: Reactor?
    private var accepted: ((DetachedSocket, PeerAddress?) -> Void)?
    private var rested: ((CInt) -> Void)?

    /// Binds the address and listens. Connections wait until ``start(on:accepted:rested:)``.
    ///
    /// If the address is the path of a Unix socket on which no process listens, that socket is replaced.
    ///
    /// - Parameter mode: The permissions of a Unix socket. By default any user may connect, as to a loopback port,
    ///   because a proxy runs as another user.
    package init(_ address: SocketAddress, mode: UInt32 = 0o666) throws(SocketError) {
        let name = address.description
        let type = CInt(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue))
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw SocketError("socket", on: name) }
        do throws(SocketError) {
            try Self.prepare(descriptor, for: address)
            try Self.bind(descriptor, to: address, mode: mode)
            guard listen(descriptor, Self.backlog) == 0 else { throw SocketError("listen", on: name) }
            // The kernel has only the short form of a long path, so the given address is kept.
            self.address = address.family == AF_UNIX ? address : try SocketAddress.bound(to: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        super.init(descriptor: descriptor)
    }

    private static func prepare(_ descriptor: CInt, for address: SocketAddress) throws(SocketError) {
        guard address.family != AF_UNIX else { return }
        // After a restart, connections of the last run may be in TIME_WAIT. This option permits listening nevertheless.
        try set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        // Accepted sockets inherit this option. All frames of a turn are sent together anyway.
        try set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY)
        // With this option, `[::]` means only IPv6, whatever the system's default is. A second socket can then listen
        // on `0.0.0.0`.
        if address.family == AF_INET6 { try set(descriptor, CInt(IPPROTO_IPV6), IPV6_V6ONLY) }
    }

    private static func set(_ descriptor: CInt, _ level: CInt, _ option: CInt) throws(SocketError) {
        var on: CInt = 1
        guard setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<CInt>.size)) == 0 else {
            throw SocketError("setsockopt")
        }
    }

    private static func bind(
        _ descriptor: CInt, to address: SocketAddress, mode: UInt32
    ) throws(SocketError) {
        if address.withPointer({ Glibc.bind(descriptor, $0, $1) }) != 0 {
            let error = SocketError("bind", on: address.description)
            guard error.errno == EADDRINUSE, let path = address.path, isAbandoned(address, at: path) else {
                throw error
            }
            // If `unlink` fails, the second attempt to bind fails too and reports the error.
            unlink(path)
            guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw SocketError("bind", on: address.description)
            }
        }
        // The permissions are set before `listen`, because no client can connect before it.
        if let path = address.path {
            guard chmod(path, mode) == 0 else {
                let error = SocketError("chmod", on: path)
                unlink(path)
                throw error
            }
        }
    }

    /// Whether the path is a socket on which no process listens, for example because the process was killed. The kind
    /// of the file is checked too, because `connect` also fails for a regular file.
    private static func isAbandoned(_ address: SocketAddress, at path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
        // The socket is non-blocking, because a blocking one would wait if the backlog is full.
        let type = CInt(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue))
        let probe = socket(AF_UNIX, type, 0)
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        return address.withPointer { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    /// Starts to accept connections. Must be called on the loop.
    ///
    /// - Parameters:
    ///   - accepted: Receives each connection with its peer's address, which is `nil` for a Unix socket.
    ///   - rested: Called with `errno` when the socket pauses because the system has no resources left.
    package func start(
        on reactor: Reactor, accepted: @escaping (DetachedSocket, PeerAddress?) -> Void,
        rested: @escaping (CInt) -> Void
    ) throws(SocketError) {
        try reactor.add(self, events: EPOLLIN.rawValue)
        self.reactor = reactor
        self.accepted = accepted
        self.rested = rested
    }

    override func ready(_ events: UInt32) {
        for taken in 0..<acceptsPerTurn {
            // The socket may have been closed by the function that received the last connection.
            guard let reactor else { return }
            var address = sockaddr_storage()
            let connection = accept(from: &address)
            if connection >= 0 {
                let socket = DetachedSocket(descriptor: connection, openSockets: reactor.openSockets)
                accepted?(socket, PeerAddress(address))
                continue
            }
            switch errno {
            case EAGAIN:
                acceptsPerTurn = max(1, taken)
                fullTurns = 0
                return
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return rest(errno)
            // Any other error refers to one connection that ended in the backlog (accept(2)).
            default: continue
            }
        }
        fullTurns += 1
        guard fullTurns == Self.turnsBeforeMore else { return }
        acceptsPerTurn = min(2 * acceptsPerTurn, Self.maxAcceptsPerTurn)
        fullTurns = 0
    }

    /// Returns the descriptor of the next connection, or -1 with `errno` set.
    private func accept(from address: inout sockaddr_storage) -> CInt {
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                accept4(
                    descriptor, $0, &length, CInt(UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue)))
            }
        }
    }

    private func rest(_ cause: CInt) {
        guard let reactor else { return }
        rested?(cause)
        reactor.change(self, events: 0)
        reactor.schedule(after: Self.restTime) { [weak self] in
            guard let self, let reactor = self.reactor else { return }
            reactor.change(self, events: EPOLLIN.rawValue)
        }
    }

    /// Stops accepting, closes the socket, and removes the path of a Unix socket. Must be called on the loop.
    /// Idempotent.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        // The path is removed first. A new daemon listens when it finds no path, and a client that finds the path must
        // be served.
        if let path = address.path { unlink(path) }
        if let reactor {
            reactor.removeAndClose(self)
        } else {
            Glibc.close(descriptor)
        }
        reactor = nil
        accepted = nil
        rested = nil
    }

    /// Closes the socket if it was never started.
    deinit {
        close()
    }

    override func loopStops() {
        close()
    }
}
