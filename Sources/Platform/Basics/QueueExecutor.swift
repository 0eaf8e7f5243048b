package import Dispatch

/// Runs an actor's jobs on a serial Dispatch queue, so that the handlers of Dispatch sources on that queue may enter the
/// actor with `assumeIsolated`, without a hop. (`DispatchQueue` is no `SerialExecutor` on Linux.)
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}

/// Runs tasks that prefer it on a serial Dispatch queue, between the jobs of the actor that has the queue: from them the actor is
/// entered without a change of thread.
package final class QueueTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    package init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
