import Basics
package import Observability
import Postgres

/// Publishes rematches that this daemon missed while its connection for notifications was lost or the database was
/// unavailable. Publishing a rematch twice is harmless.
package actor MissedRematches {
    /// The longest time until this daemon notices a lost connection.
    private static let margin = Duration.seconds(60)

    private let store: RematchStore
    private let log: Log
    private let publish: @Sendable (Rematch) -> Void
    /// The time since which notifications may be missing. `nil` if none are.
    private var lostAt: MonotonicTime?

    /// - Parameter publish: Publishes a rematch to this daemon's rooms and streams.
    package init(store: RematchStore, log: Log, publish: @escaping @Sendable (Rematch) -> Void) {
        self.store = store
        self.log = log
        self.publish = publish
    }

    package func lost() {
        lostAt = lostAt ?? .now()
    }

    /// Publishes missed rematches. Called when notifications work again.
    package func listening() async {
        guard let since = lostAt else { return }
        lostAt = nil
        do {
            for rematch in try await store.recent(within: MonotonicTime.now() - since + Self.margin) {
                publish(rematch)
            }
        } catch {
            // The next connection tries again.
            lostAt = lostAt.map { min($0, since) } ?? since
            if let error = error as? PostgresError, error.isUnavailable { return }
            log.error("failed to read rematched pairs", ["error": .string("\(error)")])
        }
    }
}
