package import Dispatch

/// The serial queue on which all test clients run: sockets' readiness, timers and the actors' own code. Nothing on it
/// blocks, so hundreds of connections share one thread, and calls between clients don't switch threads.
package final class ClientExecutor: SerialExecutor {
    package static let shared = ClientExecutor()

    package let queue = DispatchQueue(label: "test-clients")

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
