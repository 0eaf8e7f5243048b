import Postgres

/// Turns what happens in the database client into metrics and log lines.
struct DatabaseObserver: PostgresObserver {
    let metrics: ProductMetrics
    let log: Log
    /// Called when a connection failed or was lost.
    let trouble: @Sendable () -> Void

    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome) {
        switch outcome {
        case .succeeded: metrics.query(name, took: duration, .succeeded)
        case .failed(.unavailable): metrics.query(name, took: duration, .unavailable)
        case .failed, .cancelled: metrics.query(name, took: duration, .failed)
        }
    }

    func connection(_ event: PostgresConnectionEvent, message: String) {
        switch event {
        case .opened:
            log.debug("database connection opened")
        case .failed:
            log.debug("database connection failed", ["error": .string(message)])
            trouble()
        case .lost:
            log.warning("database connection lost", ["error": .string(message)])
            trouble()
        }
    }
}
