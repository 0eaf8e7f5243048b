import Basics
import CLinux
import Glibc

/// A socket on its way to a server, on one event loop: it becomes a ``DetachedSocket``, or an error. Nobody's thread waits.
package final class ConnectingSocket: Pollable {
    package typealias Completion = (Result<DetachedSocket, SocketError>) -> Void

    private let name: String
    private var reactor: Reactor?
    private var completed: Completion?
    private var deadline = CoarseInstant.never
    /// The descriptor is another's, or closed.
    private var isOver = false

    /// Begins to connect. On the loop.
    ///
    /// - Parameters:
    ///   - limit: How long it may take; then it has failed with `ETIMEDOUT`.
    ///   - completed: Called once, on the loop, in a later turn; not at all after ``close()``.
    /// - Throws: what the kernel refuses at once.
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
            // What is sent in a turn leaves in one call: nothing is gained by waiting. Can't fail for such a socket.
            setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<CInt>.size))
        }
        let result = address.withPointer { connect(descriptor, $0, $1) }
        // After EINTR it goes on by itself, as after EINPROGRESS.
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
        forget()
        completed(.success(DetachedSocket(descriptor: descriptor, openSockets: reactor.openSockets)))
    }

    override func deadlinePassed(_ passed: CoarseInstant) {
        // Or the entry of a former socket with this descriptor.
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

    /// Gives it up. On the loop. Idempotent.
    package func close() {
        guard !isOver else { return }
        isOver = true
        reactor?.removeAndClose(self)
        forget()
    }

    private func forget() {
        reactor = nil
        completed = nil
    }
}
