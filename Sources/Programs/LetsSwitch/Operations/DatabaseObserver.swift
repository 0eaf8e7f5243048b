import Basics
import Observability
import Postgres
import Sockets
import Synchronization

/// Turns events of the database client into metrics and log lines.
struct DatabaseObserver: PostgresObserver {
    let metrics: DatabaseMetrics
    let log: Log
    /// Records when the database is reachable but refuses statements.
    let refusals = DatabaseRefusals()
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

    /// Returns what an SQLSTATE means (PostgreSQL 15 manual, appendix A).
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

/// Records when the database was last reachable but refused a statement because it is read-only, full, or has file
/// errors.
///
/// Only some writes notice a full disk. The database isn't ready while any of these writes fails. Any thread may use
/// it.
final class DatabaseRefusals: Sendable {
    /// How long a refusal counts. If requests keep failing, the next refusal comes within this time.
    static let lifetime = Duration.seconds(2)

    /// The time of the last refusal, in nanoseconds of the monotonic clock. 0 means that there was none.
    private let last = Atomic<UInt64>(0)

    /// - Returns: Whether this is the first refusal in this time.
    func note(at now: MonotonicTime) -> Bool {
        let before = last.exchange(now.nanoseconds, ordering: .relaxed)
        return before == 0 || now - MonotonicTime(nanoseconds: before) > Self.lifetime
    }

    func isRecent(at now: MonotonicTime) -> Bool {
        let last = last.load(ordering: .relaxed)
        return last > 0 && now - MonotonicTime(nanoseconds: last) <= Self.lifetime
    }
}
