import Basics
import Observability
import Postgres
import Sockets

/// Turns what happens in the database client into metrics and log lines.
struct DatabaseObserver: PostgresObserver {
    let metrics: DatabaseMetrics
    let log: Log
    /// Told when the database is there and doesn't do what it is asked.
    let refusals: DatabaseRefusals
    /// Called when a connection failed or was lost.
    let connectionFailed: @Sendable () -> Void

    func query(name: String, duration: Duration, outcome: PostgresQueryOutcome) {
        switch outcome {
        case .succeeded: metrics.query(name, took: duration, .succeeded)
        case .failed(.unavailable): metrics.query(name, took: duration, .unavailable)
        case .failed(.conflict): metrics.query(name, took: duration, .conflict)
        case .failed(.refused(let sqlState)):
            metrics.query(name, took: duration, .unavailable)
            if refusals.note(at: .now()) {
                log.error(
                    "the database refuses statements",
                    [
                        "statement": .string(name), "sqlState": .string(sqlState),
                        "meaning": .string(Self.meaning(sqlState)),
                    ])
            }
        case .failed, .cancelled: metrics.query(name, took: duration, .failed)
        }
    }

    /// PostgreSQL 15 manual, appendix A.
    private static func meaning(_ sqlState: String) -> String {
        switch sqlState {
        case "25006": "read-only"
        case "53100": "disk full"
        case "53200": "out of memory"
        case "53300": "too many connections"
        default: sqlState.hasPrefix("58") ? "system error" : "out of resources, or an internal error"
        }
    }

    func connection(_ event: PostgresConnectionEvent, message: String) {
        switch event {
        case .opened:
            log.debug("database connection opened")
        case .failed:
            log.debug("database connection failed", ["error": .string(message)])
            connectionFailed()
        case .lost:
            log.warning("database connection lost", ["error": .string(message)])
            connectionFailed()
        }
    }
}
