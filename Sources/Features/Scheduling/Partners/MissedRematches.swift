import Basics
package import Observability
import Postgres

/// Reports rematches that this daemon missed while its connection for notifications was lost or the database was
/// unavailable. A repeated report is harmless.
package actor MissedRematches {
    /// The longest time until a lost connection is noticed.
    private static let margin = Duration.seconds(60)

    private let store: RematchStore
    private let log: Log
    private let tell: @Sendable (Rematch) -> Void
    /// Since when notifications may be missing.
    private var lostAt: MonotonicTime?

    /// - Parameter tell: Handles a rematch.
    package init(store: RematchStore, log: Log, tell: @escaping @Sendable (Rematch) -> Void) {
        self.store = store
        self.log = log
        self.tell = tell
    }

    package func lost() {
        lostAt = lostAt ?? .now()
    }

    /// Reads missed rematches, after notifications work again.
    package func listening() async {
        guard let since = lostAt else { return }
        lostAt = nil
        do {
            for rematch in try await store.recent(within: MonotonicTime.now() - since + Self.margin) { tell(rematch) }
        } catch {
            // Tries again with the next connection.
            lostAt = lostAt.map { min($0, since) } ?? since
            if let error = error as? PostgresError, error.isUnavailable { return }
            log.error("failed to read rematched pairs", ["error": .string("\(error)")])
        }
    }
}
