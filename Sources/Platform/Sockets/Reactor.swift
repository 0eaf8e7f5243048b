package import Basics
import CLinux
import Glibc

/// The inner part of an event loop: descriptors, timers, and the work at the end of a turn.
///
/// ```
/// one turn:  epoll_wait ─► each ready socket: one recv, then its handler ─► … ─► end of the turn:
///                                                                           each socket with unsent bytes
///                                                                           sends them in one call
/// ```
///
/// The class is deliberately not `Sendable`: only code on the loop can have a reference to it (see ``EventLoop``). All
/// calls happen on the loop's queue.
package final class Reactor {
    /// The maximum number of bytes that one `recv` reads.
    package static let receiveBufferSize = 64 * 1024
    /// The maximum number of turns while other work of the queue waits.
    private static let roundsBeforeOthers = 16
    /// The time in milliseconds that the loop waits for events before it returns to Dispatch.
    private static let patience: CInt = 50
    private static let eventsPerRound = 512
    /// The maximum number of pieces of memory in one `sendmsg`.
    private static let vectorsPerSend = 64
    /// The maximum number of times that sockets send in one turn. After its last piece is sent, a stream may enqueue
    /// more data. If the maximum is reached, that data waits for the next turn.
    private static let flushesPerTurn = 4

    /// The time at which this turn began.
    package private(set) var now = MonotonicTime.now()
    /// ``EventLoop/index``.
    package let index: Int
    var locals: [(key: ObjectIdentifier, value: AnyObject)] = []
    /// Whether the loop has stopped. A socket that arrives from another loop afterwards is closed, because no one would
    /// ever serve it.
    private var hasStopped = false

    let pollDescriptor: CInt
    let openSockets: SocketCount
    private let executor: LoopExecutor
    private let alarm: CInt
    private var armedFor = MonotonicTime.distantFuture
    /// The objects by descriptor. The kernel uses the smallest free number, so the array has few gaps. The reactor
    /// holds each object from ``add(_:events:)`` until the end of the turn in which it is removed. Every object that is
    /// called in a turn therefore exists until the turn's end, and the calls need no reference counting. Reference
    /// counting took nearly 2 % of a delivery.
    private var pollables: [Unmanaged<Pollable>?] = []
    /// The objects that were removed in this turn, and whether to close their descriptors.
    private var removed: [(pollable: Unmanaged<Pollable>, closes: Bool)] = []
    /// The deadlines of sockets, by descriptor.
    private var deadlines = TimerQueue<CoarseInstant, CInt>()
    private var alarms = TimerQueue<MonotonicTime, TimerID>()
    private var timers: [TimerID: () -> Void] = [:]
    private var lastTimer: UInt32 = 0
    /// The handlers to call at the end of this turn, before the sockets send.
    private var settling: [any TurnEndHandler] = []
    /// The handlers that are being called now. They may request another call.
    private var settlingNow: [any TurnEndHandler] = []
    private var sending: [Unmanaged<StreamSocket>] = []
    /// The sockets that are sending now. The array is swapped with `sending`, so that a turn allocates no memory.
    private var flushing: [Unmanaged<StreamSocket>] = []
    private let events: UnsafeMutableBufferPointer<epoll_event>
    let vectors: UnsafeMutableBufferPointer<iovec>
    let receiveBuffer: UnsafeMutableRawBufferPointer
    /// The buffers for TLS. They are allocated for the first TLS socket.
    lazy var tlsTraffic = TLSTraffic(receiveBufferSize: Self.receiveBufferSize)

    init(index: Int, executor: LoopExecutor, openSockets: SocketCount) throws {
        self.index = index
        self.executor = executor
        self.openSockets = openSockets
        pollDescriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        guard pollDescriptor >= 0 else { throw SocketError("epoll_create1") }
        alarm = timerfd_create(CLOCK_MONOTONIC, CInt(TFD_NONBLOCK | TFD_CLOEXEC))
        guard alarm >= 0 else {
            let error = SocketError("timerfd_create")
            Glibc.close(pollDescriptor)
            throw error
        }
        events = .allocate(capacity: Self.eventsPerRound)
        vectors = .allocate(capacity: Self.vectorsPerSend)
        receiveBuffer = .allocate(byteCount: Self.receiveBufferSize, alignment: 16)
        for descriptor in [alarm, executor.wakeUp] {
            var interest = epoll_event(events: EPOLLIN.rawValue, data: epoll_data(fd: descriptor))
            guard epoll_ctl(pollDescriptor, EPOLL_CTL_ADD, descriptor, &interest) == 0 else {
                throw SocketError("epoll_ctl")
            }
        }
    }

    deinit {
        Glibc.close(alarm)
        Glibc.close(pollDescriptor)
        events.deallocate()
        vectors.deallocate()
        receiveBuffer.deallocate()
    }

    // MARK: Turns

    /// Serves ready sockets and waits for further events. Returns when no event comes within the wait, or when other
    /// work of the queue has waited long enough.
    func serveReadySockets() {
        var roundsWithOthers = 0
        while roundsWithOthers < Self.roundsBeforeOthers {
            let waits = executor.listen()
            let count = epoll_wait(
                pollDescriptor, events.baseAddress, CInt(events.count), waits ? Self.patience : 0)
            if waits { executor.stopListening() } else { roundsWithOthers += 1 }
            // 0 means that no event came. -1 means EINTR: Dispatch then calls again, because the descriptor is still
            // ready.
            guard count > 0 else { return }
            now = .now()
            for index in 0..<Int(count) {
                let event = events[index]
                let descriptor = event.data.fd
                if descriptor == alarm {
                    timerFired()
                } else if descriptor == executor.wakeUp {
                    executor.clearWakeUp()
                } else if Int(descriptor) < pollables.count, let pollable = pollables[Int(descriptor)] {
                    pollable._withUnsafeGuaranteedRef { $0.ready(event.events) }
                }
            }
            endTurn()
        }
    }

    /// Performs `work` as a separate turn.
    func performTurn<Result>(_ work: (Reactor) throws -> Result) rethrows -> Result {
        now = .now()
        defer { endTurn() }
        return try work(self)
    }

    /// Sends all bytes that were enqueued in this turn.
    private func endTurn() {
        // A peer that has taken its responses may send requests again. Reading them may cause further work.
        for _ in 0..<Self.flushesPerTurn where !settling.isEmpty || !sending.isEmpty {
            swap(&settling, &settlingNow)
            for handler in settlingNow { handler.turnEnds() }
            settlingNow.removeAll(keepingCapacity: true)
            swap(&sending, &flushing)
            for socket in flushing { socket._withUnsafeGuaranteedRef { $0.flush() } }
            flushing.removeAll(keepingCapacity: true)
        }
        if settling.isEmpty, sending.isEmpty { releaseRemoved() } else { executor.wake() }
        armTimer()
    }

    /// Closes the descriptors of removed objects. Called only at the end of a turn, because the kernel may reuse the
    /// number of a closed descriptor. During the turn, the list of events can still contain events of the removed
    /// object, or the object can still wait to send.
    private func releaseRemoved() {
        while let (pollable, closes) = removed.popLast() {
            if closes { Glibc.close(pollable._withUnsafeGuaranteedRef { $0.descriptor }) }
            pollable.release()
        }
    }

    /// Calls `handler` once at the end of this turn, before the sockets send.
    package func callAtEndOfTurn(_ handler: any TurnEndHandler) {
        settling.append(handler)
    }

    func flushAtEndOfTurn(_ socket: StreamSocket) {
        sending.append(.passUnretained(socket))
    }

    // MARK: Descriptors

    /// Starts to poll an object. Events are level-triggered: if data is left unread, the event is reported again.
    func add(_ pollable: Pollable, events: UInt32) throws(SocketError) {
        guard !hasStopped else { throw SocketError("epoll_ctl", errno: ECANCELED) }
        let descriptor = pollable.descriptor
        var interest = epoll_event(events: events, data: epoll_data(fd: descriptor))
        guard epoll_ctl(pollDescriptor, EPOLL_CTL_ADD, descriptor, &interest) == 0 else {
            throw SocketError("epoll_ctl")
        }
        while pollables.count <= Int(descriptor) { pollables.append(nil) }
        pollables[Int(descriptor)] = .passRetained(pollable)
    }

    func change(_ pollable: Pollable, events: UInt32) {
        var interest = epoll_event(events: events, data: epoll_data(fd: pollable.descriptor))
        // This can't fail for an open descriptor that was added before.
        epoll_ctl(pollDescriptor, EPOLL_CTL_MOD, pollable.descriptor, &interest)
    }

    /// Stops polling, and leaves the descriptor open.
    func remove(_ pollable: Pollable) {
        epoll_ctl(pollDescriptor, EPOLL_CTL_DEL, pollable.descriptor, nil)
        remove(pollable, closing: false)
    }

    /// Stops polling. At the end of the turn, closes the descriptor, which also removes it from epoll.
    func removeAndClose(_ pollable: Pollable) {
        remove(pollable, closing: true)
    }

    private func remove(_ pollable: Pollable, closing: Bool) {
        guard let held = pollables[Int(pollable.descriptor)] else { return }
        pollables[Int(pollable.descriptor)] = nil
        removed.append((held, closing))
    }

    /// Calls `body` for every connected socket of the loop. O(descriptors).
    package func forEachSocket(_ body: (StreamSocket) -> Void) {
        for case let pollable? in pollables {
            if let socket = pollable.takeUnretainedValue() as? StreamSocket { body(socket) }
        }
    }

    /// Calls `body` for the sockets among the next `count` descriptors, starting with `first`. Use this for work that
    /// is too long for one turn.
    ///
    /// - Returns: The descriptor to continue with, or `nil` at the end.
    package func forEachSocket(from first: Int, count: Int, _ body: (StreamSocket) -> Void) -> Int? {
        let end = min(first + count, pollables.count)
        for descriptor in min(first, end)..<end {
            if let socket = pollables[descriptor]?.takeUnretainedValue() as? StreamSocket { body(socket) }
        }
        return end < pollables.count ? end : nil
    }

    func closeAll() {
        hasStopped = true
        for case let pollable? in pollables { pollable._withUnsafeGuaranteedRef { $0.loopStops() } }
        timers = [:]
        deadlines.removeAll()
        alarms.removeAll()
        endTurn()
        locals = []
    }

    // MARK: Time

    /// Calls `action` once, on the loop, after `delay`.
    @discardableResult
    package func schedule(after delay: Duration, _ action: @escaping () -> Void) -> TimerID {
        repeat { lastTimer &+= 1 } while timers[TimerID(number: lastTimer)] != nil
        let id = TimerID(number: lastTimer)
        timers[id] = action
        alarms.insert(.init(deadline: .now() + delay, key: id))
        return id
    }

    /// Cancels a timer. Does nothing if the timer has fired.
    package func cancel(_ timer: TimerID) {
        timers[timer] = nil
    }

    /// Calls ``Pollable/deadlinePassed(_:)`` with this deadline after it has passed.
    func setDeadline(_ deadline: CoarseInstant, for pollable: Pollable) {
        deadlines.insert(.init(deadline: deadline, key: pollable.descriptor))
    }

    private func timerFired() {
        var expirations: UInt64 = 0
        // Reading resets the timer. The number of expirations isn't needed.
        _ = Glibc.read(alarm, &expirations, MemoryLayout<UInt64>.size)
        armedFor = .distantFuture
        while let entry = alarms.popDue(at: now) { timers.removeValue(forKey: entry.key)?() }
        while let entry = deadlines.popDue(at: CoarseInstant(notAfter: now)) {
            guard Int(entry.key) < pollables.count, let pollable = pollables[Int(entry.key)] else { continue }
            pollable._withUnsafeGuaranteedRef { $0.deadlinePassed(entry.deadline) }
        }
    }

    /// Sets the kernel's timer if a deadline is before its current setting.
    private func armTimer() {
        var earliest = alarms.earliest ?? .distantFuture
        if let deadline = deadlines.earliest?.time(near: now), deadline.isBefore(earliest) {
            earliest = deadline
        }
        guard earliest.isBefore(armedFor) else { return }
        armedFor = earliest
        var setting = itimerspec()
        // The value must not be zero, because zero would disarm the timer.
        let nanoseconds = max(1, earliest.nanoseconds)
        setting.it_value.tv_sec = Int(clamping: nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(alarm, CInt(TFD_TIMER_ABSTIME), &setting, nil)
    }
}
