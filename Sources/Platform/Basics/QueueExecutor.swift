package import Dispatch

/// An executor that runs an actor's jobs on a serial Dispatch queue. The handlers of Dispatch sources on that queue can
/// then enter the actor with `assumeIsolated`, without a hop. (`DispatchQueue` isn't a `SerialExecutor` on Linux.)
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

/// An executor that runs tasks on a serial Dispatch queue, between the jobs of the actor that owns the queue. These
/// tasks enter the actor without a change of thread.
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
