import Basics
import Domain
package import Observability
import Postgres

/// Deletes the remaining rows of erased devices in small steps. Even with a million tasks, neither the request nor due
/// tasks wait.
///
/// If this daemon ends first, its next start or another daemon on the same database continues: the remaining work is
/// stored there.
package actor ErasureWorker: Service {
    /// The maximum number of rows of a kind in one transaction, which takes some tens of milliseconds.
    private static let limit = 500
    /// The pause between two steps, for other work.
    private static let pause = Duration.milliseconds(20)
    /// The time between looks for work of other daemons.
    private static let interval = Duration.seconds(60)

    private let store: ErasureStore
    private let log: Log
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameter store: Uses a pool whose connections may be busy during a step, so not the scheduler's.
    package init(store: ErasureStore, log: Log) {
        self.store = store
        self.log = log
    }

    /// Works until ``stop(within:)``.
    package func run() async {
        while !isStopped {
            await timer.sleep(for: await eraseMore() ? Self.pause : Self.interval)
        }
    }

    /// Wakes the worker, because a device is to be erased.
    package nonisolated func wake() {
        Task { await timer.wake() }
    }

    /// Ends ``run()`` after the current step.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// Returns whether there may be more.
    private func eraseMore() async -> Bool {
        do {
            return try await store.eraseMore(limit: Self.limit)
        } catch {
            // The scheduler already logs that the database is unavailable.
            if let error = error as? PostgresError, error.isUnavailable { return false }
            log.error("failed to delete the remaining data of erased devices", ["error": .string("\(error)")])
            return false
        }
    }
}
