import Basics
package import Observability
import Postgres

/// Creates the tasks of series in advance, each day at a quiet hour, one series at a time.
///
/// Several daemons may run this worker on one database. A daemon skips a series that another daemon is working on. If
/// no daemon works at a series' quiet hour, the first daemon that runs after it creates the tasks.
package actor SeriesWorker: Service {
    /// The pause between two series, which leaves the database free for other work.
    private static let pause = Duration.milliseconds(10)
    /// The interval of checks for a due series.
    private static let interval = Duration.seconds(60)

    private let store: SeriesStore
    private let log: Log
    private let made: @Sendable (SeriesTasks) async -> Void
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameters:
    ///   - store: Uses a pool other than the scheduler's, because these statements may wait for locks.
    ///   - made: Receives the created tasks.
    package init(
        store: SeriesStore, log: Log, made: @escaping @Sendable (SeriesTasks) async -> Void
    ) {
        self.store = store
        self.log = log
        self.made = made
    }

    /// Works until ``stop(within:)``.
    package func run() async {
        while !isStopped {
            await timer.sleep(for: await extendNext() ? Self.pause : Self.interval)
        }
    }

    /// Ends ``run()`` after the current series.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// Returns whether more series may be due.
    private func extendNext() async -> Bool {
        do {
            guard let tasks = try await store.extendNext() else { return false }
            if !tasks.isEmpty { await made(tasks) }
            return true
        } catch {
            // The scheduler logs database outages.
            if let error = error as? PostgresError, error.isUnavailable { return false }
            log.error("failed to create the tasks of series", ["error": .string("\(error)")])
            return false
        }
    }
}
