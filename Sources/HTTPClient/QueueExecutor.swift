import Dispatch

/// Runs an actor's jobs on a serial Dispatch queue, so that the handlers of Dispatch sources on that queue may enter the
/// actor with `assumeIsolated`, without a hop. (`DispatchQueue` is no `SerialExecutor` on Linux.)
final class QueueExecutor: SerialExecutor {
    let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
