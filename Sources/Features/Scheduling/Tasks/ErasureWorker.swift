import Basics
package import Domain
package import Observability
import Postgres

/// Deletes what is left of erased people, a helping at a time: with a million tasks nobody waits for it, neither the one who
/// asked nor what is due meanwhile.
///
/// Whatever this daemon doesn't get to, because it ends or dies, the next one does, or another on the same database: what is left
/// stands there.
package actor ErasureWorker: Service {
    /// Tasks in one transaction, some tens of milliseconds.
    private static let limit = 500
    /// Between two helpings, for everybody else.
    private static let pause = Duration.milliseconds(20)
    /// Between looks at what others may have left.
    private static let interval = Duration.seconds(60)

    private let store: ErasureStore
    private let log: Log
    private let erased: @Sendable ([Instant]) async -> Void
    private let timer = WakeableTimer()
    private var isStopped = false

    /// - Parameters:
    ///   - store: Of a pool whose connections a helping may keep waiting: not the scheduler's.
    ///   - erased: Told of the slots of each helping.
    package init(store: ErasureStore, log: Log, erased: @escaping @Sendable ([Instant]) async -> Void) {
        self.store = store
        self.log = log
        self.erased = erased
    }

    /// Works until ``stop(within:)``.
    package func run() async {
        while !isStopped {
            await timer.sleep(for: await eraseMore() ? Self.pause : Self.interval)
        }
    }

    /// Somebody is to be erased.
    package nonisolated func wake() {
        Task { await timer.wake() }
    }

    /// Ends ``run()`` after the helping in hand.
    package func stop(within limit: Duration) async {
        isStopped = true
        await timer.wake()
    }

    /// Returns whether there may be more.
    private func eraseMore() async -> Bool {
        do {
            let step = try await store.eraseMore(limit: Self.limit)
            if !step.slots.isEmpty { await erased(step.slots) }
            return step.hasMore
        } catch {
            // The scheduler says when the database is away.
            if let error = error as? PostgresError, error.isUnavailable { return false }
            log.error("failed to delete the remaining data of erased devices", ["error": .string("\(error)")])
            return false
        }
    }
}
