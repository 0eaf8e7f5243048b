package import Domain
import FoundationEssentials
package import Postgres

/// The history of tasks in the database. Throws `PostgresError`.
package struct HistoryStore: Sendable {
    /// The maximum number of tasks in one answer. Most devices have fewer in a month.
    package static let limit = 500

    /// The names of the statements, for metrics.
    package static let statementNames = [markStarted.name, historyOf.name]

    private static let markStarted = TaskRow.statement(calling: "mark_started", parameters: 2)
    private static let historyOf = PostgresStatement(
        name: "history_of", sql: "SELECT * FROM schedule.history_of($1, $2)")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Records that the user has started the task.
    ///
    /// - Throws: A refusal if there is no such task or if it is too early, or `PostgresError`.
    package func markStarted(_ task: OwnTask) async throws -> TaskResponse {
        let rows = try await database.query(
            Self.markStarted, [.text(task.device.text), .text(task.id.text)], timeout: nil)
        let row = try TaskRow(rows[0])
        guard row.code == "begun" else { throw try row.refusal() }
        return try row.decided().0
    }

    package func history(of device: DeviceID) async throws -> History {
        let rows = try await database.query(
            Self.historyOf, [.text(device.text), .integer(Self.limit)], timeout: nil)
        return History(entries: try rows.map { try History.Entry($0) })
    }
}

extension History.Entry {
    fileprivate init(_ row: PostgresRow) throws {
        id = try row.uuid("task_id")
        title = try row.string("title")
        startTime = try row.string("start_time")
        timeZone = try row.string("time_zone")
        startsAt = try row.instant("starts_at")
        startedAt = try row.optionalInteger("began_at").map { Instant(seconds: $0) }
        outcome = try row.optionalString("outcome").map {
            switch $0 {
            case "kept": .kept
            case "dissolved": .dissolved
            case "missed": .missed
            default: throw PostgresError(kind: .decoding, message: "column outcome is not a valid outcome")
            }
        }
        wasDissolved = try row.boolean("was_dissolved")
        attendance = try row.optionalString("attendance").map {
            guard let attendance = History.Attendance(rawValue: $0) else {
                throw PostgresError(kind: .decoding, message: "column attendance is not a valid attendance")
            }
            return attendance
        }
        partnerTask = try row.optionalString("partner_task")
    }
}
