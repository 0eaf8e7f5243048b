import Basics
package import Observability
import Postgres

/// Writes the users with subscribers on this daemon to the database. Changes are gathered for some milliseconds,
/// because many subscribers come and go at the same time.
package final class ConnectedUserWriter: Service {
    private static let pause: Duration = .milliseconds(50)
    private static let retryPause: Duration = .seconds(1)

    private struct State {
        var changes = ConnectedUserChanges()
        /// The time limit of the last statement. `nil` until the service stops.
        var end: MonotonicTime?
    }

    private let store: ConnectedUserStore
    private let audience: ConnectedUsers
    private let log: Log
    private let state = Locked(State())
    private let timer = WakeableTimer()

    package init(store: ConnectedUserStore, audience: ConnectedUsers, log: Log) {
        self.store = store
        self.audience = audience
        self.log = log
        audience.observe { [weak self] user in self?.changed(user) }
    }

    private func changed(_ user: String) {
        state.withLock { $0.changes.add(user) }
        Task { [timer] in await timer.wake() }
    }

    /// Writes all users again, because other daemons considered this daemon dead and may have deleted its rows.
    package func writeAllAgain() async {
        state.withLock { $0.changes.repeatAll() }
        await timer.wake()
    }

    /// Deletes the rows of this daemon and of dead daemons. Called before the daemon answers its first request.
    package func enter() async throws {
        try await store.remove()
    }

    package func run() async {
        while state.withLock({ $0.end == nil }) {
            let batch = state.withLock { state in state.changes.take { audience.hasSubscriber($0) } }
            guard !batch.isEmpty else {
                let isDone = state.withLock { $0.changes.isEmpty }
                if isDone { await timer.sleep(for: .seconds(3600)) }
                continue
            }
            do {
                try await store.set(came: batch.came, left: batch.left)
                state.withLock { $0.changes.wrote(batch) }
                try? await Task.sleep(for: Self.pause)
            } catch {
                state.withLock { $0.changes.failed(batch) }
                // Database outages are logged by the connection pool.
                if let error = error as? PostgresError, !error.isUnavailable {
                    log.error("failed to write the connected users of conversations", ["error": .string("\(error)")])
                }
                await timer.sleep(for: Self.retryPause)
            }
        }
        await leave()
    }

    /// Deletes this daemon's rows. If this fails, the rows are ignored once the daemon's own row is deleted. The next
    /// daemon that starts deletes them.
    private func leave() async {
        do {
            try await UnavailabilityRetries.run(until: state.withLock { $0.end }) { try await store.remove() }
        } catch {
            log.warning("failed to delete this daemon's connected users", ["error": .string("\(error)")])
        }
    }

    package func stop(within limit: Duration) async {
        // Half of the time is left for services that stop after this one.
        state.withLock { $0.end = $0.end ?? .now() + limit / 2 }
        await timer.wake()
    }
}
