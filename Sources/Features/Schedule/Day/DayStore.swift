import Domain
import FoundationEssentials
package import Postgres

/// A device's day in the database. Every operation is one statement, and SQL/days.sql decides what the day contains.
/// Throws like ``ScheduleStore``.
package struct DayStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = [day.name]

    private static let day = PostgresStatement(
        name: "day_schedule", sql: "SELECT * FROM schedule.day_schedule($1, $2, $3, $4, $5)")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Returns the sixteen sessions, in order. With `everything`, also the device's nearest other tasks (at most 400)
    /// and the nearest other slots to join (at most 50).
    package func day(_ request: ScheduleRequest, everything: Bool) async throws -> ScheduleOutcome {
        let day: [PostgresParameter] =
            switch request.day {
            case .midnight(let midnight): [.integer(midnight.seconds), .null]
            case .date(let date): [.null, .integer(date.days)]
            }
        let zone: PostgresParameter = request.timeZone.map { .text($0) } ?? .null
        let parameters: [PostgresParameter] = [.text(request.device.text), zone] + day + [.boolean(everything)]
        let rows = try await database.query(namingZone: Self.day, parameters)
        if try rows.first?.optionalString("problem") != nil { return .refused(.farFromMidnight) }
        return .day(ScheduleResponse(slots: try rows.map { try ScheduleResponse.Slot($0) }))
    }
}

extension ScheduleResponse.Slot {
    fileprivate init(_ row: PostgresRow) throws {
        key = try row.string("key")
        id = try row.optionalUUID("task_id") ?? UUID()
        title = try row.optionalString("title") ?? ""
        hasOwnTask = try row.boolean("has_own_task")
        hasSomebodyElse = try row.boolean("has_somebody_else")
        partnerTask = try row.optionalString("partner_title")
        roomId = try row.optionalUUID("room_id")
    }
}
