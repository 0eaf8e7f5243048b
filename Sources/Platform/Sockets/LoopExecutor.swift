import CLinux
import Dispatch
import Glibc
import Synchronization

/// The executor of an event loop: a serial Dispatch queue and an eventfd. If work is queued while the loop waits in
/// epoll, the eventfd wakes the loop.
///
/// ```
/// loop, on its queue:  epoll_wait ─ up to 50 ms ─► serves events ─► epoll_wait … ─► no event: back to Dispatch
/// any other thread:    enqueue, submit ─► queue ─► if the loop waits: eventfd ─► epoll_wait returns ─► queue continues
/// ```
///
/// While events arrive, the loop itself waits in epoll and keeps its queue. If Dispatch waited, each event would cost a
/// wake-up of Dispatch's own thread, a wake-up of a worker thread, and an `epoll_ctl`. A connection with an upgrade and
/// a close would take 11 system calls and a context switch, instead of 6. An idle loop returns to Dispatch and uses no
/// thread.
/// connection, upgrade and close, instead of 6. An idle loop returns to Dispatch and holds no thread.
final class LoopExecutor: SerialExecutor {
    let queue: DispatchQueue
    /// An eventfd that the loop's epoll descriptor watches.
    let wakeUp: CInt
    /// The number of queued jobs that haven't begun yet.
    private let waiting = Atomic<Int>(0)
    private let isListening = Atomic<Bool>(false)

    /// - Throws: ``SocketError`` if the process has no descriptor left.
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
        // The operations are sequentially consistent. Either the loop sees the work before it waits, or this thread
        // sees that the loop waits.
        waiting.add(1, ordering: .sequentiallyConsistent)
        queue.async {
            self.waiting.subtract(1, ordering: .relaxed)
            work()
        }
        if isListening.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    }

    /// Makes the present or the next `epoll_wait` return.
    func wake() {
        var count: UInt64 = 1
        // The write fails only if the counter is full. In that case the loop is already woken.
        _ = Glibc.write(wakeUp, &count, MemoryLayout<UInt64>.size)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    // MARK: The loop

    /// Announces that the loop is about to wait, so that `submit` wakes it. Returns `false` if there is already work.
    /// In that case the loop must not wait.
    func listen() -> Bool {
        isListening.store(true, ordering: .sequentiallyConsistent)
        guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return true }
        stopListening()
        return false
    }

    func stopListening() {
        isListening.store(false, ordering: .relaxed)
    }

    /// Resets the eventfd after a wake-up.
    func clearWakeUp() {
        var count: UInt64 = 0
        // Reading resets the counter. Its value isn't needed.
        _ = Glibc.read(wakeUp, &count, MemoryLayout<UInt64>.size)
    }
}
