package import Basics
import CLinux
import Glibc

/// A connected socket on an event loop: one `recv` per wake-up, one `send` per turn.
///
/// ```
/// open ──finish()──► finishing ──all sent──► lingering ──peer's FIN, or timeout──► closed
///   └────────────── close(), error, queue over its limit ──────────────────────────┘
/// ```
///
/// All calls happen on the loop.
package final class StreamSocket: Pollable {
    /// The reason why a socket was closed.
    package enum CloseCause: Sendable, Equatable {
        /// The handler closed it.
        case closedHere
        /// The connection was reset, or the kernel reported another `errno`. `EPROTO` means that TLS is broken.
        case failed(CInt)
        /// The peer reads too slowly: more than ``StreamSocket/sendLimit`` bytes wait that can't be left out.
        case sendQueueFull
        /// The loop stopped.
        case loopStopped
    }

    enum Phase: UInt8 {
        case open, finishing, lingering, closed
    }

    /// The time that a socket waits for the peer's FIN after it has sent everything.
    package static let lingerTime = Duration.seconds(2)
    /// The number of bytes that are discarded while lingering. If a peer sends more, the connection is reset.
    private static let lingerBytes = 1 << 20

    // The order of the fields leaves no gaps, because there are many sockets. 136 bytes is a size class of the
    // allocator.

    /// The maximum of ``SendQueue/heldBytes`` at the end of a turn. If it is exceeded, the socket is closed.
    package var sendLimit: UInt32 = .max
    /// The handler of the socket. It is replaced when the protocol changes, for example at an HTTP upgrade. The socket
    /// and its handler refer to each other until the socket is finished, detached or closed.
    package var handler: (any StreamSocketHandler)?
    /// An object that exists as long as the connection, even if the handler changes. It is released when the socket
    /// closes or is detached.
    package var companion: AnyObject?
    package let reactor: Reactor
    /// The TLS session, or `nil` if the socket is plain.
    var tls: TLSSession?
    var queue: SendQueue
    private(set) var phase = Phase.open
    private var flags: Flags = .isReading
    private var discarded: UInt32 = 0
    private var armedFor = CoarseInstant.never
    private var nextDeadline = CoarseInstant.never

    private struct Flags: OptionSet {
        let rawValue: UInt8

        static let isScheduled = Flags(rawValue: 1)
        static let isBlocked = Flags(rawValue: 2)
        static let isReading = Flags(rawValue: 4)
        static let peerEnded = Flags(rawValue: 8)
        static let reportsDrain = Flags(rawValue: 16)

        subscript(flag: Flags) -> Bool {
            get { contains(flag) }
            set { if newValue { formUnion(flag) } else { subtract(flag) } }
        }
    }

    private(set) var isScheduled: Bool {
        get { flags[.isScheduled] }
        set { flags[.isScheduled] = newValue }
    }

    /// Whether the kernel's send buffer was full, and the socket waits for `EPOLLOUT`.
    private var isBlocked: Bool {
        get { flags[.isBlocked] }
        set { flags[.isBlocked] = newValue }
    }

    private var isReading: Bool {
        get { flags[.isReading] }
        set { flags[.isReading] = newValue }
    }

    /// Whether the peer has sent its FIN, or with TLS a close_notify.
    package private(set) var peerEnded: Bool {
        get { flags[.peerEnded] }
        set { flags[.peerEnded] = newValue }
    }

    /// Whether to call ``StreamSocketHandler/socketDidDrain(_:)``.
    package var reportsDrain: Bool {
        get { flags[.reportsDrain] }
        set { flags[.reportsDrain] = newValue }
    }

    /// The time at which ``StreamSocketHandler/socketDeadlinePassed(_:)`` is called, or up to 50 ms later. Moving the
    /// deadline to a later time costs nothing.
    package var deadline: MonotonicTime {
        get { nextDeadline.time(near: reactor.now) }
        set {
            nextDeadline = CoarseInstant(notBefore: newValue, at: reactor.now)
            guard nextDeadline.isBefore(armedFor) else { return }
            armedFor = nextDeadline
            reactor.setDeadline(nextDeadline, for: self)
        }
    }

    /// Takes ownership of a connected, non-blocking socket. Set ``handler`` in the same turn. The peer may already have
    /// ended its side (``peerEnded``). The handler isn't notified of that.
    ///
    /// - Throws: ``SocketError`` if the loop has stopped or the kernel refuses to poll the socket. Releasing `detached`
    ///   then closes the socket.
    package init(_ detached: DetachedSocket, on reactor: Reactor) throws(SocketError) {
        self.reactor = reactor
        queue = detached.queue
        tls = detached.tls
        super.init(descriptor: detached.descriptor)
        // If the previous loop already read the peer's close_notify, the kernel doesn't report it again. Therefore this
        // is checked here.
        if tls?.peerHasEnded == true {
            peerEnded = true
            isReading = false
        }
        try reactor.add(self, events: isReading ? EPOLLIN.rawValue : 0)
        detached.wasTaken()
        if unsentBytes > 0 { scheduleFlush() }
    }

    package var isOpen: Bool { phase == .open }

    /// The number of bytes that the kernel has not taken yet.
    package var unsentBytes: Int { queue.byteCount + (tls?.unsent.count ?? 0) }

    private var heldBytes: Int { queue.heldBytes + (tls?.unsent.count ?? 0) }

    // MARK: Sending

    /// Sends `bytes`, `times` times, at the end of the turn. They are sent after all bytes that were enqueued before.
    /// Does nothing on a finished socket.
    package func enqueue(_ bytes: SharedBytes, times: Int = 1) {
        guard phase == .open else { return }
        queue.append(bytes, times: times)
        if !isScheduled { scheduleFlush() }
    }

    func scheduleFlush() {
        isScheduled = true
        reactor.flushAtEndOfTurn(self)
    }

    /// Sends the queue in one call.
    func flush() {
        isScheduled = false
        guard phase == .open || phase == .finishing else { return }
        // Before a slow peer is disconnected, the socket tries to send once more. The kernel may have space again
        // without having reported it yet.
        if !isBlocked || heldBytes > Int(sendLimit) {
            guard tls == nil ? send() : sendRecords() else { return }
        }
        guard unsentBytes > 0 else {
            // Otherwise the next EPOLLOUT event calls `drained()`.
            if !isBlocked { drained() }
            return
        }
        guard heldBytes <= Int(sendLimit) || makeRoom() else { return fail(.sendQueueFull) }
        guard !isBlocked else { return }
        isBlocked = true
        updateInterest()
    }

    /// Removes frames that may be left out, because the queue exceeds its limit. Returns whether that is enough.
    private func makeRoom() -> Bool {
        let count = queue.leaveOut(heldBytes - Int(sendLimit))
        guard heldBytes <= Int(sendLimit) else { return false }
        handler?.socket(self, leftOut: count)
        return true
    }

    /// Calls `send` once. If the kernel took all bytes, calls it again. Returns `false` if the socket is closed.
    private func send() -> Bool {
        while !queue.isEmpty {
            let vectors = reactor.vectors
            let count = queue.gather(into: vectors)
            var offered = 0
            for index in 0..<count { offered += vectors[index].iov_len }
            let taken: Int
            if count == 1 {
                taken = Glibc.send(descriptor, vectors[0].iov_base, offered, CInt(MSG_NOSIGNAL))
            } else {
                var message = msghdr()
                message.msg_iov = vectors.baseAddress
                message.msg_iovlen = count
                taken = Glibc.sendmsg(descriptor, &message, CInt(MSG_NOSIGNAL))
            }
            if taken < 0 {
                switch errno {
                case EINTR: continue
                case EAGAIN, ENOBUFS, ENOMEM: return true
                default:
                    fail(.failed(errno))
                    return false
                }
            }
            queue.removeFirst(taken)
            if taken < offered { return true }
        }
        return true
    }

    private func drained() {
        if phase == .finishing { return linger() }
        if reportsDrain { handler?.socketDidDrain(self) }
    }

    // MARK: Receiving

    /// Stops or resumes reading. While reading is stopped, the kernel's buffer fills up, and then the peer can't send.
    package func setReading(_ reading: Bool) {
        guard reading != isReading, phase == .open, !peerEnded else { return }
        isReading = reading
        updateInterest()
    }

    private func updateInterest() {
        let reads: UInt32 = isReading ? EPOLLIN.rawValue : 0
        let writes: UInt32 = isBlocked ? EPOLLOUT.rawValue : 0
        reactor.change(self, events: reads | writes)
    }

    override func ready(_ events: UInt32) {
        if events & EPOLLOUT.rawValue != 0, isBlocked {
            isBlocked = false
            flush()
            if !isBlocked, phase != .closed { updateInterest() }
        }
        guard phase != .closed else { return }
        let ended = events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0
        if isReading {
            if ended || events & EPOLLIN.rawValue != 0 { receive() }
        } else if ended {
            // The connection has ended. The socket is closed, because the kernel would report the end again and again.
            fail(.failed(ECONNRESET))
        }
    }

    private func receive() {
        let buffer = reactor.receiveBuffer
        var count: Int
        repeat {
            count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        } while count < 0 && errno == EINTR
        if count > 0 {
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            if phase != .open {
                discard(count)
            } else if tls == nil {
                handler?.socket(self, received: bytes)
            } else {
                receiveRecords(UnsafeRawBufferPointer(bytes))
            }
        } else if count == 0 {
            receivedEnd()
        } else if errno != EAGAIN {
            fail(.failed(errno))
        }
    }

    private func discard(_ count: Int) {
        discarded += UInt32(count)
        if discarded > Self.lingerBytes { close() }
    }

    func receivedEnd() {
        peerEnded = true
        if phase == .lingering { return close() }
        isReading = false
        if phase == .open { handler?.socketReceivedEnd(self) }
        // Most sockets are closed at this point, which removes them from epoll.
        if phase != .closed { updateInterest() }
    }

    // MARK: Ending

    /// Sends the queue and then FIN, and waits a short time for the peer's FIN. Without this wait, unread bytes would
    /// reset the connection, and the peer might lose the last response. The handler isn't called any more.
    ///
    /// - Parameter sending: The time limit for sending the queue. After it, the socket is closed.
    package func finish(sending: Duration = StreamSocket.lingerTime) {
        guard phase == .open else { return }
        phase = .finishing
        handler = nil
        deadline = reactor.now + sending
        if !isReading, !peerEnded {
            isReading = true
            updateInterest()
        }
        if unsentBytes == 0, tls?.owesCloseNotify != true {
            linger()
        } else if !isScheduled {
            scheduleFlush()
        }
    }

    private func linger() {
        guard !peerEnded else { return close() }
        // ENOTCONN means that the peer has gone. The next `recv` reports it.
        shutdown(descriptor, CInt(SHUT_WR))
        phase = .lingering
        deadline = reactor.now + Self.lingerTime
    }

    /// Closes the socket at once. Unsent bytes are lost.
    package func close() {
        fail(.closedHere)
    }

    func fail(_ cause: CloseCause) {
        guard phase != .closed else { return }
        phase = .closed
        queue = SendQueue()
        tls = nil
        reactor.removeAndClose(self)
        reactor.openSockets.decrement()
        companion = nil
        let handler = handler
        self.handler = nil
        handler?.socketDidClose(self, because: cause)
    }

    /// Removes the socket with its unsent bytes from this loop, and returns it for another loop.
    package func detach() -> DetachedSocket {
        phase = .closed
        reactor.remove(self)
        handler = nil
        companion = nil
        let session = tls
        tls = nil
        return DetachedSocket(descriptor: descriptor, queue: queue, tls: session, countedIn: reactor.openSockets)
    }

    /// Notifies the handler that the server stops.
    package func announceStop() {
        handler?.serverStops(self)
    }

    override func deadlinePassed(_ passed: CoarseInstant) {
        // If they differ, the entry is for a deadline that was moved, or for a former socket with this descriptor.
        guard passed == armedFor else { return }
        armedFor = .never
        if !CoarseInstant(notAfter: reactor.now).isBefore(nextDeadline) {
            nextDeadline = .never
            if phase == .open { handler?.socketDeadlinePassed(self) } else { close() }
        } else if nextDeadline != .never {
            armedFor = nextDeadline
            reactor.setDeadline(nextDeadline, for: self)
        }
    }

    override func loopStops() {
        fail(.loopStopped)
    }
}
