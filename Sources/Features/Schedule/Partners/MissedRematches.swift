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
    private let publish: @Sendable (Rematch) -> Void
    /// Since when notifications may be missing.
    private var lostAt: MonotonicTime?

    /// - Parameter publish: Handles a rematch.
    package init(store: RematchStore, log: Log, publish: @escaping @Sendable (Rematch) -> Void) {
        self.store = store
        self.log = log
        self.publish = publish
    }

    package func lost() {
        lostAt = lostAt ?? .now()
    }

    /// Reads missed rematches, after notifications work again.
    package func listening() async {
        guard let since = lostAt else { return }
        lostAt = nil
        do {
            for rematch in try await store.recent(within: MonotonicTime.now() - since + Self.margin) {
                publish(rematch)
            }
        } catch {
            // Tries again with the next connection.
            lostAt = lostAt.map { min($0, since) } ?? since
            if let error = error as? PostgresError, error.isUnavailable { return }
            log.error("failed to read rematched pairs", ["error": .string("\(error)")])
        }
    }
}
