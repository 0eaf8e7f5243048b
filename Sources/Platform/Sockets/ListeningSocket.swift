import CLinux
import Glibc

/// A socket that accepts connections, on one event loop.
///
/// When the process or the system is out of descriptors or memory, it rests and tries again, rather than spin on a
/// connection that it can't take: those that wait stay in the kernel's backlog.
package final class ListeningSocket: Pollable {
    private static let backlog: CInt = 4096
    /// Connections taken in one turn, at most; the rest is reported again.
    private static let maxAcceptsPerTurn = 64
    /// Turns in which all that may be taken was there, before more may.
    private static let turnsBeforeMore = 8
    private static let restTime = Duration.milliseconds(200)

    /// Where it listens, with the port that the kernel chose if 0 was asked for.
    package let address: SocketAddress
    private var isClosed = false
    /// Connections taken in one turn. Mostly they come one by one, and an `accept` that finds none costs more than it looks:
    /// the kernel makes a socket and a file before it looks, and frees them again.
    private var acceptsPerTurn = 1
    private var fullTurns = 0
    private var reactor: Reactor?
    private var accepted: ((DetachedSocket, PeerAddress?) -> Void)?
    private var rested: ((CInt) -> Void)?

    /// Binds and listens; connections wait until ``start(on:accepted:rested:)``.
    ///
    /// A Unix socket's path is taken over if what is there is a socket that nobody listens on.
    ///
    /// - Parameter mode: Who may connect to a Unix socket. By itself it is as open as a loopback port: a proxy runs as another user.
    package init(_ address: SocketAddress, mode: UInt32 = 0o666) throws(SocketError) {
        let name = address.description
        let type = CInt(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue))
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw SocketError("socket", on: name) }
        do throws(SocketError) {
            try Self.prepare(descriptor, for: address)
            try Self.bind(descriptor, to: address, mode: mode)
            guard listen(descriptor, Self.backlog) == 0 else { throw SocketError("listen", on: name) }
            self.address = try SocketAddress.bound(to: descriptor)
        } catch {
            Glibc.close(descriptor)
            throw error
        }
        super.init(descriptor: descriptor)
    }

    private static func prepare(_ descriptor: CInt, for address: SocketAddress) throws(SocketError) {
        guard address.family != AF_UNIX else { return }
        // A restart must not wait for the last run's connections in TIME_WAIT.
        try set(descriptor, SOL_SOCKET, SO_REUSEADDR)
        // Accepted sockets inherit it: frames leave when we send them, and a turn's frames leave together anyway.
        try set(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY)
        // `[::]` is IPv6 alone, so that `0.0.0.0` can be listened on beside it, whatever the system's default is.
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
            // If that fails, so does the second attempt.
            unlink(path)
            guard address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
                throw SocketError("bind", on: address.description)
            }
        }
        // Nobody can connect yet: that takes `listen`.
        if let path = address.path {
            guard chmod(path, mode) == 0 else {
                let error = SocketError("chmod", on: path)
                unlink(path)
                throw error
            }
        }
    }

    /// Whether the path is a socket without a listener: what a killed process leaves. `connect` alone doesn't tell: it is
    /// refused by a regular file too.
    private static func isAbandoned(_ address: SocketAddress, at path: String) -> Bool {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
        // Non-blocking: it would wait for a place in a full backlog.
        let type = CInt(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue))
        let probe = socket(AF_UNIX, type, 0)
        guard probe >= 0 else { return false }
        defer { Glibc.close(probe) }
        return address.withPointer { connect(probe, $0, $1) } != 0 && errno == ECONNREFUSED
    }

    /// Begins to accept. On the loop.
    ///
    /// - Parameters:
    ///   - accepted: Gets each connection, and its peer's address unless the peer came by a Unix socket.
    ///   - rested: Told, with `errno`, that the listener rests because the system is out of something.
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
            // Whoever got the last connection may have closed the listener.
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
            // Anything else is about one connection that died in the backlog (accept(2)).
            default: continue
            }
        }
        fullTurns += 1
        guard fullTurns == Self.turnsBeforeMore else { return }
        acceptsPerTurn = min(2 * acceptsPerTurn, Self.maxAcceptsPerTurn)
        fullTurns = 0
    }

    /// The next connection's descriptor, or -1 and `errno`.
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

    /// Stops to accept and closes the socket; a Unix socket's path is removed. On the loop. Idempotent.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        // Removed first: who finds the path gone listens anew, who finds it there has to be served.
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

    /// A socket that was bound and never started leaves nothing behind either.
    deinit {
        close()
    }

    override func loopStops() {
        close()
    }
}
