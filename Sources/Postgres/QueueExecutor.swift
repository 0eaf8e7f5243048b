import Dispatch

/// Runs an actor's jobs on a serial Dispatch queue, so that the handlers of Dispatch sources on that queue may enter the
/// actor with `assumeIsolated`, without a hop. (`DispatchQueue` is no `SerialExecutor` on Linux.) Tasks may prefer the queue, too:
/// from them the actor is entered without a change of thread.
final class QueueExecutor: SerialExecutor, TaskExecutor {
    let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(
                isolatedTo: self.asUnownedSerialExecutor(), taskExecutor: self.asUnownedTaskExecutor())
        }
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
