package import Basics
import CLinux
import Glibc

/// A connected socket on an event loop: one `recv` per wake-up, one `send` per turn.
///
/// ```
/// open ──finish()──► finishing ──all sent──► lingering ──peer's FIN, or time──► closed
///   └────────────── close(), error, queue over its limit ────────────────────────┘
/// ```
///
/// All of it is called on the loop.
package final class StreamSocket: Pollable {
    /// Why a socket was closed.
    package enum CloseCause: Sendable, Equatable {
        /// The handler asked for it.
        case closedHere
        /// The connection was reset, or another error of the kernel's; its `errno`. `EPROTO` when TLS is broken.
        case failed(CInt)
        /// The peer reads too slowly: more than ``StreamSocket/sendLimit`` bytes wait for it, of what it must not miss.
        case sendQueueFull
        /// The loop stopped.
        case loopStopped
    }

    enum Phase: UInt8 {
        case open, finishing, lingering, closed
    }

    /// How long a socket that has sent everything waits for the peer's FIN.
    package static let lingerTime = Duration.seconds(2)
    /// Bytes from the peer that are thrown away while lingering; a peer that sends more has its connection reset.
    private static let lingerBytes = 1 << 20

    // The order of what is stored leaves no gaps: there are many sockets, and 136 bytes are one size of the allocator's.

    /// Bytes of memory that may be held for the peer at the end of a turn (``SendQueue/heldBytes``); more, and the socket
    /// is closed.
    package var sendLimit: UInt32 = .max
    /// Who speaks over the socket; replaced when the protocol changes, as at an HTTP upgrade. The two hold each other
    /// until the socket is finished, detached or closed.
    package var handler: (any StreamSocketHandler)?
    /// Let go of when the socket closes or is detached: what has to last as long as the connection, beyond every handler.
    package var companion: AnyObject?
    package let reactor: Reactor
    /// `nil` while the socket is plain.
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

    /// The kernel's send buffer was full: `EPOLLOUT` is awaited.
    private var isBlocked: Bool {
        get { flags[.isBlocked] }
        set { flags[.isBlocked] = newValue }
    }

    private var isReading: Bool {
        get { flags[.isReading] }
        set { flags[.isReading] = newValue }
    }

    /// The peer sent its FIN, or inside TLS its close_notify.
    package private(set) var peerEnded: Bool {
        get { flags[.peerEnded] }
        set { flags[.peerEnded] = newValue }
    }

    /// Whether ``StreamSocketHandler/socketDidDrain(_:)`` is called.
    package var reportsDrain: Bool {
        get { flags[.reportsDrain] }
        set { flags[.reportsDrain] = newValue }
    }

    /// When ``StreamSocketHandler/socketDeadlinePassed(_:)`` is to be called, up to 50 ms later, and rounded up to that. Moving it to later
    /// costs nothing.
    package var deadline: MonotonicTime {
        get { nextDeadline.time(near: reactor.now) }
        set {
            nextDeadline = CoarseInstant(notBefore: newValue, at: reactor.now)
            guard nextDeadline.isBefore(armedFor) else { return }
            armedFor = nextDeadline
            reactor.setDeadline(nextDeadline, for: self)
        }
    }

    /// Takes over a connected, non-blocking socket; ``handler`` is to be set in the same turn. The peer may have ended already
    /// (``peerEnded``), of which the handler isn't told.
    ///
    /// - Throws: ``SocketError`` when the loop has stopped or the kernel refuses to poll it; it is closed with `detached`.
    package init(_ detached: DetachedSocket, on reactor: Reactor) throws(SocketError) {
        self.reactor = reactor
        queue = detached.queue
        tls = detached.tls
        super.init(descriptor: detached.descriptor)
        // Told inside TLS, it came with the last bytes of the loop before; the kernel repeats only its own.
        if tls?.peerHasEnded == true {
            peerEnded = true
            isReading = false
        }
        try reactor.add(self, events: isReading ? EPOLLIN.rawValue : 0)
        detached.wasTaken()
        if unsentBytes > 0 { scheduleFlush() }
    }

    package var isOpen: Bool { phase == .open }

    /// Bytes that the kernel has not taken yet.
    package var unsentBytes: Int { queue.byteCount + (tls?.unsent.count ?? 0) }

    private var heldBytes: Int { queue.heldBytes + (tls?.unsent.count ?? 0) }

    // MARK: Sending

    /// Sends `bytes`, `times` over, at the end of the turn, after what was enqueued before. Does nothing once the socket
    /// is finished.
    package func enqueue(_ bytes: SharedBytes, times: Int = 1) {
        guard phase == .open else { return }
        queue.append(bytes, times: times)
        if !isScheduled { scheduleFlush() }
    }

    func scheduleFlush() {
        isScheduled = true
        reactor.flushAtEndOfTurn(self)
    }

    /// Gives the kernel what waits, in one call.
    func flush() {
        isScheduled = false
        guard phase == .open || phase == .finishing else { return }
        // Before a peer is cut off, the kernel is asked once more: it may have room again and not have said so yet.
        if !isBlocked || heldBytes > Int(sendLimit) {
            guard tls == nil ? send() : sendRecords() else { return }
        }
        guard unsentBytes > 0 else {
            // Else EPOLLOUT is about to come, and tells.
            if !isBlocked { drained() }
            return
        }
        guard heldBytes <= Int(sendLimit) || makeRoom() else { return fail(.sendQueueFull) }
        guard !isBlocked else { return }
        isBlocked = true
        updateInterest()
    }

    /// Leaves out what may be, if that is enough.
    private func makeRoom() -> Bool {
        let count = queue.leaveOut(heldBytes - Int(sendLimit))
        guard heldBytes <= Int(sendLimit) else { return false }
        handler?.socket(self, leftOut: count)
        return true
    }

    /// One `send`, and again only if the kernel took all that one call could carry. `false` when the socket is gone.
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

    /// Stops to read, so that the kernel's buffer fills and the peer has to wait; or goes on.
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
            // Nobody is left to answer to, and the kernel would report this for ever.
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
        // Most close now, and need not be taken from the poll first.
        if phase != .closed { updateInterest() }
    }

    // MARK: Ending

    /// Sends what is enqueued, then FIN, and waits a little for the peer's, so that it can read all of it: a socket closed
    /// with bytes unread would be reset, and the last answer lost. The handler hears nothing more.
    ///
    /// - Parameter sending: How long the peer may take over what is enqueued; then the socket is closed.
    package func finish(sending: Duration = StreamSocket.lingerTime) {
        guard phase == .open else { return }
        phase = .finishing
        handler = nil
        deadline = reactor.now + sending
        if !isReading, !peerEnded {
            isReading = true
            updateInterest()
        }
        if unsentBytes == 0, tls?.owesGoodbye != true {
            linger()
        } else if !isScheduled {
            scheduleFlush()
        }
    }

    private func linger() {
        guard !peerEnded else { return close() }
        // ENOTCONN: the peer is gone, which `recv` tells in a moment.
        shutdown(descriptor, CInt(SHUT_WR))
        phase = .lingering
        deadline = reactor.now + Self.lingerTime
    }

    /// Closes at once; what is unsent is lost.
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

    /// Takes the socket off this loop, with what it has yet to send, for another loop to adopt.
    package func detach() -> DetachedSocket {
        phase = .closed
        reactor.remove(self)
        handler = nil
        companion = nil
        let session = tls
        tls = nil
        return DetachedSocket(descriptor: descriptor, queue: queue, tls: session, countedIn: reactor.openSockets)
    }

    /// Tells the handler that the server goes away.
    package func announceStop() {
        handler?.serverStops(self)
    }

    override func deadlinePassed(_ passed: CoarseInstant) {
        // An entry for a deadline that was moved closer since, or of a former socket with this descriptor.
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
