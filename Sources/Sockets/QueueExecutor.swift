package import Dispatch

/// An actor's executor made of one serial Dispatch queue.
///
/// On Linux `DispatchQueue` is no `SerialExecutor` itself. With this one an actor's state belongs to a queue, the
/// compiler knows it, and code that Dispatch calls on that queue (a source's handler) enters the actor by
/// `assumeIsolated` without a hop.
package final class QueueExecutor: SerialExecutor {
    package let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label, qos: .userInitiated)
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
