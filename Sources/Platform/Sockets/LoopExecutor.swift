import CLinux
import Dispatch
import Glibc
import Synchronization

/// The executor of an event loop: a serial Dispatch queue, and an eventfd that wakes the loop if work is queued while
/// the loop waits in epoll.
///
/// ```
/// loop, on its queue:   epoll_wait ─ up to 50 ms ─► serves events ─► epoll_wait … ─► no event: back to Dispatch
/// any other thread:     enqueue, submit ─► queue ─► is the loop waiting? ─► eventfd ─► epoll_wait returns ─► queue continues
/// ```
///
/// While there is traffic the loop waits itself and keeps its queue. Through Dispatch, an event costs a wake-up of
/// Dispatch's own thread, another of a worker, and an `epoll_ctl`: 11 system calls and a context switch for one
/// connection, upgrade and close, instead of 6. An idle loop returns to Dispatch and holds no thread.
final class LoopExecutor: SerialExecutor {
    let queue: DispatchQueue
    /// An eventfd in the loop's poller.
    let wakeUp: CInt
    /// The number of queued jobs that have not begun.
    private let waiting = Atomic<Int>(0)
    private let isListening = Atomic<Bool>(false)

    /// - Throws: ``SocketError`` if no descriptor is left.
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
        // Sequentially consistent: either the loop sees the work before it waits, or this thread sees that the loop
        // waits.
        waiting.add(1, ordering: .sequentiallyConsistent)
        queue.async {
            self.waiting.subtract(1, ordering: .relaxed)
            work()
        }
        if isListening.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    }

    /// Makes the current or next `epoll_wait` return.
    func wake() {
        var count: UInt64 = 1
        // Fails only if the counter is full, and then the loop is already woken.
        _ = Glibc.write(wakeUp, &count, MemoryLayout<UInt64>.size)
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    // MARK: The loop

    /// Announces that the loop waits, so that `submit` wakes it. Returns `false` if there is work already; the loop
    /// must not wait then.
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
        // Only the reset matters, not the count.
        _ = Glibc.read(wakeUp, &count, MemoryLayout<UInt64>.size)
    }
}
