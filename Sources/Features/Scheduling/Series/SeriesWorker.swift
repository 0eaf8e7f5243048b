import Basics
package import Observability
import Postgres

/// Makes the promises of series ahead, each day at its quiet hour, one series at a time.
///
/// Several daemons may do this on one database: a series that one has in hand the others pass over. What none gets to in its hour, because
/// it was away, the next one does that comes.
package actor SeriesWorker: Service {
    /// Between two series, for everybody else.
    private static let pause = Duration.milliseconds(10)
    /// Between looks whether it is time for one.
    private static let interval = Duration.seconds(60)

    private let store: SeriesStore
    private let log: Log
    private let made: @Sendable (SeriesPromises) async -> Void
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameters:
    ///   - store: Of a pool whose connections a series may keep waiting: not the scheduler's.
    ///   - made: Told of what was made.
    package init(
        store: SeriesStore, log: Log, made: @escaping @Sendable (SeriesPromises) async -> Void
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

    /// Ends ``run()`` after the series in hand.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// Returns whether there may be more.
    private func extendNext() async -> Bool {
        do {
            guard let promises = try await store.extendNext() else { return false }
            if !promises.isEmpty { await made(promises) }
            return true
        } catch {
            // The scheduler says when the database is away.
            if let error = error as? PostgresError, error.isUnavailable { return false }
            log.error("failed to create the tasks of series", ["error": .string("\(error)")])
            return false
        }
    }
}
