import Basics
import CLinux
import Glibc

/// A socket on an event loop that is connecting to a server. The result is a ``DetachedSocket`` or an error. No thread
/// waits.
package final class ConnectingSocket: Pollable {
    package typealias Completion = (Result<DetachedSocket, SocketError>) -> Void

    private let name: String
    private var reactor: Reactor?
    private var completed: Completion?
    private var deadline = CoarseInstant.never
    /// Whether the descriptor is closed or has a new owner.
    private var isOver = false

    /// Begins to connect. Must be called on the loop.
    ///
    /// - Parameters:
    ///   - limit: The time after which the attempt fails with `ETIMEDOUT`.
    ///   - completed: Called once, on the loop, after this call has returned. Not called after ``close()``.
    /// - Throws: The kernel's error, if `connect` fails immediately.
    package init(
        to address: SocketAddress, on reactor: Reactor, within limit: Duration, completed: @escaping Completion
    ) throws(SocketError) {
        name = address.description
        let type = CInt(SOCK_STREAM.rawValue | UInt32(SOCK_NONBLOCK.rawValue) | UInt32(SOCK_CLOEXEC.rawValue))
        let descriptor = socket(address.family, type, 0)
        guard descriptor >= 0 else { throw SocketError("socket", on: address.description) }
        super.init(descriptor: descriptor)
        if address.family != AF_UNIX {
            var on: CInt = 1
            // The loop sends all bytes that were written between two calls of `epoll_wait` together. So the kernel
            // needn't delay small segments (Nagle's algorithm). `setsockopt` can't fail for a TCP socket.
            setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        }
        let result = address.withPointer { connect(descriptor, $0, $1) }
        // After EINTR the kernel continues to connect, as after EINPROGRESS.
        guard result == 0 || errno == EINPROGRESS || errno == EINTR else { throw SocketError("connect", on: name) }
        try reactor.add(self, events: EPOLLOUT.rawValue)
        self.reactor = reactor
        self.completed = completed
        deadline = CoarseInstant(notBefore: reactor.now + limit, at: reactor.now)
        reactor.setDeadline(deadline, for: self)
    }

    deinit {
        if !isOver { Glibc.close(descriptor) }
    }

    override func ready(_ events: UInt32) {
        var code: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else {
            return fail(SocketError("getsockopt", on: name))
        }
        guard code == 0 else { return fail(SocketError("connect", on: name, errno: code)) }
        guard let reactor, let completed, !isOver else { return }
        isOver = true
        reactor.remove(self)
        releaseReferences()
        completed(.success(DetachedSocket(descriptor: descriptor, openSockets: reactor.openSockets)))
    }

    override func deadlinePassed(_ passed: CoarseInstant) {
        // If they differ, the entry is for an earlier deadline of this socket, or for a former socket with this
        // descriptor.
        guard passed == deadline else { return }
        fail(SocketError("connect", on: name, errno: ETIMEDOUT))
    }

    override func loopStops() {
        fail(SocketError("connect", on: name, errno: ECANCELED))
    }

    private func fail(_ error: SocketError) {
        let completed = completed
        close()
        completed?(.failure(error))
    }

    /// Abandons the attempt. Must be called on the loop. Idempotent.
    package func close() {
        guard !isOver else { return }
        isOver = true
        reactor?.removeAndClose(self)
        releaseReferences()
    }

    private func releaseReferences() {
        reactor = nil
        completed = nil
    }
}
