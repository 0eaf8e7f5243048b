import CLinux
import Dispatch
import Glibc
import Synchronization

/// The executor of one event loop: a serial Dispatch queue, and an eventfd that wakes the loop when something is put on the
/// queue while it waits in its poller.
///
/// ```
/// loop, on its queue:   epoll_wait ─ up to 50 ms ─► events: served ─► epoll_wait … ─► nothing came: back to Dispatch
/// any other thread:     enqueue, submit ─► the queue ─► loop waiting? ─► eventfd ─► epoll_wait returns ─► the queue goes on
/// ```
/// Why the loop waits itself while there is traffic, holding its queue: by way of Dispatch an event costs a wake-up of
/// Dispatch's own thread, another of a worker, and an `epoll_ctl` to watch on. One connection, upgrade and close took 11
/// system calls and a context switch on the way, where 6 do. A loop at rest goes back to Dispatch and holds no thread.
final class LoopExecutor: SerialExecutor {
    let queue: DispatchQueue
    /// An eventfd, which the loop's poller watches.
    let wakeUp: CInt
    /// What was put on the queue and has not begun.
    private let waiting = Atomic<Int>(0)
    private let isListening = Atomic<Bool>(false)

    /// - Throws: ``SocketError`` when no descriptor is left.
    init(label: String) throws(SocketError) {
        wakeUp = eventfd(0, CInt(EFD_NONBLOCK | EFD_CLOEXEC))
        guard wakeUp >= 0 else { throw SocketError("eventfd") }
        queue = DispatchQueue(label: label, qos: .userInitiated)
    }

    deinit {
        Glibc.close(wakeUp)
    }

    // MARK: Any thread

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        // In one order for all threads: either the loop sees, before it waits, that there is work, or here is seen that it waits.
        waiting.add(1, ordering: .sequentiallyConsistent)
        queue.async {
            self.waiting.subtract(1, ordering: .relaxed)
            work()
        }
        if isListening.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    }

    /// Has the poller return, now or when it is asked next.
    func wake() {
        var count: UInt64 = 1
        // Fails only when the count is full, and then it is woken already.
        _ = Glibc.write(wakeUp, &count, MemoryLayout<UInt64>.size)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    // MARK: The loop

    /// From now on it is woken. `false` when there is work already: then the loop must not wait.
    func listen() -> Bool {
        isListening.store(true, ordering: .sequentiallyConsistent)
        guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return true }
        stopListening()
        return false
    }

    func stopListening() {
        isListening.store(false, ordering: .relaxed)
    }

    /// The loop is awake: the poller need not report it again.
    func clearWakeUp() {
        var count: UInt64 = 0
        // The count is of no interest.
        _ = Glibc.read(wakeUp, &count, MemoryLayout<UInt64>.size)
    }
}
