import Dispatch

/// Runs tasks that prefer it on a serial Dispatch queue, between the jobs of the actor that has the queue: from them the actor is
/// entered without a change of thread.
final class QueueTaskExecutor: TaskExecutor {
    private let queue: DispatchQueue

    init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
