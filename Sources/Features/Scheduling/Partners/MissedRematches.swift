import Basics
package import Observability
import Postgres

/// Tells of rematches that were told while this daemon couldn't hear: its connection for notifications was lost, or the database was away.
/// A repeat is harmless.
package actor MissedRematches {
    /// A connection may have been lost for so long before anybody noticed.
    private static let margin = Duration.seconds(60)

    private let store: RematchStore
    private let log: Log
    private let tell: @Sendable (Rematch) -> Void
    /// Since when nothing is heard, or nothing was asked for.
    private var lostAt: MonotonicTime?

    /// - Parameter tell: What is done with what is heard.
    package init(store: RematchStore, log: Log, tell: @escaping @Sendable (Rematch) -> Void) {
        self.store = store
        self.log = log
        self.tell = tell
    }

    package func lost() {
        lostAt = lostAt ?? .now()
    }

    /// It hears again.
    package func listening() async {
        guard let since = lostAt else { return }
        lostAt = nil
        do {
            for rematch in try await store.recent(within: MonotonicTime.now() - since + Self.margin) { tell(rematch) }
        } catch {
            // With the next connection.
            lostAt = lostAt.map { min($0, since) } ?? since
            if let error = error as? PostgresError, error.isUnavailable { return }
            log.error("failed to read rematched pairs", ["error": .string("\(error)")])
        }
    }
}
