package import Basics
import CLinux
import Glibc

/// The inside of an event loop: who waits for which descriptor, what is due when, what leaves at the end of the turn.
///
/// ```
/// one wake-up:  epoll_wait ─► each ready socket: one recv, its handler ─► … ─► end of the turn:
///                                                                             every socket with something to send
///                                                                             sends it, in one call
/// ```
///
/// Not `Sendable`, by intent: only code that runs on the loop can hold it (see ``EventLoop``). Everything here is
/// called on the loop's queue.
package final class Reactor {
    /// Bytes that one `recv` may bring.
    package static let receiveBufferSize = 64 * 1024
    /// Rounds served while other work of the queue waits for its turn.
    private static let roundsBeforeOthers = 16
    /// Milliseconds that the loop waits for more before it goes back to Dispatch.
    private static let patience: CInt = 50
    private static let eventsPerRound = 512
    /// Pieces that one `sendmsg` may gather.
    private static let vectorsPerSend = 64
    /// Sends that sends provoke (a stream that goes on when its last piece left) within one turn; the rest waits for
    /// the next.
    private static let flushesPerTurn = 4

    /// The time at which this turn began.
    package private(set) var now = MonotonicTime.now()
    /// ``EventLoop/index``.
    package let index: Int
    var locals: [(key: ObjectIdentifier, value: AnyObject)] = []
    /// Nothing is served any more: what comes from other loops on the way must not stay here for ever.
    private var hasStopped = false

    let pollDescriptor: CInt
    let openSockets: SocketCount
    private let executor: LoopExecutor
    private let alarm: CInt
    private var armedFor = MonotonicTime.distantFuture
    /// By descriptor: the kernel gives the smallest free number, so this stays dense. The reactor holds each of them from
    /// ``add(_:events:)`` to the end of the turn in which it is removed. So whatever is called within a turn lives
    /// until its end, and the calls below count no references: that was nearly 2 % of what a delivery costs.
    private var pollables: [Unmanaged<Pollable>?] = []
    /// Those that were removed in this turn, and whether their descriptors are to be closed.
    private var removed: [(pollable: Unmanaged<Pollable>, closes: Bool)] = []
    /// Of sockets, by descriptor.
    private var deadlines = TimerQueue<CoarseInstant, CInt>()
    private var alarms = TimerQueue<MonotonicTime, TimerID>()
    private var timers: [TimerID: () -> Void] = [:]
    private var lastTimer: UInt32 = 0
    /// Who has something to do at the end of this turn, before the sockets send.
    private var settling: [any TurnEndHandler] = []
    /// Those whose turn to do so is now: they may ask for another one.
    private var settlingNow: [any TurnEndHandler] = []
    private var sending: [Unmanaged<StreamSocket>] = []
    /// The sockets whose turn to send is now; swapped with `sending`, so that neither is allocated anew each turn.
    private var flushing: [Unmanaged<StreamSocket>] = []
    private let events: UnsafeMutableBufferPointer<epoll_event>
    let vectors: UnsafeMutableBufferPointer<iovec>
    let receiveBuffer: UnsafeMutableRawBufferPointer
    /// Made when the first socket speaks TLS.
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

    /// Serves what is ready, and waits for more, until nothing comes or others of the queue have waited long enough.
    func serveReadySockets() {
        var roundsWithOthers = 0
        while roundsWithOthers < Self.roundsBeforeOthers {
            let waits = executor.listen()
            let count = epoll_wait(
                pollDescriptor, events.baseAddress, CInt(events.count), waits ? Self.patience : 0)
            if waits { executor.stopListening() } else { roundsWithOthers += 1 }
            // 0: nothing is ready. -1: EINTR, after which Dispatch wakes us again, as it does for what is still ready.
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

    /// Does `work` as a turn of its own.
    func performTurn<Result>(_ work: (Reactor) throws -> Result) rethrows -> Result {
        now = .now()
        defer { endTurn() }
        return try work(self)
    }

    /// What was enqueued in this turn leaves.
    private func endTurn() {
        // A peer that has taken its answers is read again, so there may be more to settle.
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

    /// Descriptors are closed only now, so that no number is given anew while events for its former owner may still be in
    /// hand; and not while anybody is still to send, so that no former owner is.
    private func releaseRemoved() {
        while let (pollable, closes) = removed.popLast() {
            if closes { Glibc.close(pollable._withUnsafeGuaranteedRef { $0.descriptor }) }
            pollable.release()
        }
    }

    /// Has `handler` called once at the end of this turn, in time to send.
    package func callAtEndOfTurn(_ handler: any TurnEndHandler) {
        settling.append(handler)
    }

    func flushAtEndOfTurn(_ socket: StreamSocket) {
        sending.append(.passUnretained(socket))
    }

    // MARK: Descriptors

    /// Starts to poll. The events are level-triggered: what is not taken is reported again.
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
        // Can't fail for a descriptor that was added and is open.
        epoll_ctl(pollDescriptor, EPOLL_CTL_MOD, pollable.descriptor, &interest)
    }

    /// Stops to poll and leaves the descriptor open.
    func remove(_ pollable: Pollable) {
        epoll_ctl(pollDescriptor, EPOLL_CTL_DEL, pollable.descriptor, nil)
        remove(pollable, closing: false)
    }

    /// Stops to poll, and closes the descriptor at the end of the turn (which is what removes it from the poller).
    func removeAndClose(_ pollable: Pollable) {
        remove(pollable, closing: true)
    }

    private func remove(_ pollable: Pollable, closing: Bool) {
        guard let held = pollables[Int(pollable.descriptor)] else { return }
        pollables[Int(pollable.descriptor)] = nil
        removed.append((held, closing))
    }

    /// Calls `body` with every connected socket of the loop. O(descriptors).
    package func forEachSocket(_ body: (StreamSocket) -> Void) {
        for case let pollable? in pollables {
            if let socket = pollable.takeUnretainedValue() as? StreamSocket { body(socket) }
        }
    }

    /// The same for those of `count` descriptors from `first` on, for work that would take too long for one turn.
    ///
    /// - Returns: From where to go on; `nil` at the end.
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

    /// Forgets a timer; does nothing when it has fired.
    package func cancel(_ timer: TimerID) {
        timers[timer] = nil
    }

    /// Has ``Pollable/deadlinePassed(_:)`` called with this same deadline once it has passed.
    func setDeadline(_ deadline: CoarseInstant, for pollable: Pollable) {
        deadlines.insert(.init(deadline: deadline, key: pollable.descriptor))
    }

    private func timerFired() {
        var expirations: UInt64 = 0
        // The count is of no interest; reading it silences the descriptor.
        _ = Glibc.read(alarm, &expirations, MemoryLayout<UInt64>.size)
        armedFor = .distantFuture
        while let entry = alarms.popDue(at: now) { timers.removeValue(forKey: entry.key)?() }
        while let entry = deadlines.popDue(at: CoarseInstant(notAfter: now)) {
            guard Int(entry.key) < pollables.count, let pollable = pollables[Int(entry.key)] else { continue }
            pollable._withUnsafeGuaranteedRef { $0.deadlinePassed(entry.deadline) }
        }
    }

    /// Sets the kernel's timer if something is due earlier than it is set for.
    private func armTimer() {
        var earliest = alarms.earliest ?? .distantFuture
        if let deadline = deadlines.earliest?.time(near: now), deadline.isBefore(earliest) {
            earliest = deadline
        }
        guard earliest.isBefore(armedFor) else { return }
        armedFor = earliest
        var setting = itimerspec()
        // All zeros would disarm it.
        let nanoseconds = max(1, earliest.nanoseconds)
        setting.it_value.tv_sec = Int(clamping: nanoseconds / 1_000_000_000)
        setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        timerfd_settime(alarm, CInt(TFD_TIMER_ABSTIME), &setting, nil)
    }
}
