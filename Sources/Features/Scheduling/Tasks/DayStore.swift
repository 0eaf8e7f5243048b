import Domain
import FoundationEssentials
package import Postgres

/// A day as a device sees it, from the database: one statement; SQL/days.sql decides what is in it. Throws as ``ScheduleStore`` does.
package struct DayStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [day.name]

    private static let day = PostgresStatement(
        name: "day_schedule", sql: "SELECT * FROM letsswitch.day_schedule($1, $2, $3, $4, $5)")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// The sixteen sessions, in order; with `everything` also the device's other tasks (400 at most) and other slots to join (50),
    /// the nearest.
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
