package import Domain
import FoundationEssentials
package import Postgres

/// The schedule in the database. Every operation is one statement, so one round trip and one transaction; the SQL
/// (SQL/) decides, and this puts its answers into values.
///
/// Throws `PostgresError`; `RequestError(_:)` makes `503` of those that mean that the database is away. After one whose
/// outcome is unknown the client may simply ask again: a repeat is harmless.
package struct ScheduleStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = Statement.all.map(\.name)

    /// A statement each, a transaction each.
    private enum Statement {
        static let all = [
            timeZoneNames, register, accept, cancel, day,
        ]

        static let timeZoneNames = PostgresStatement(
            name: "time_zone_names", sql: "SELECT name FROM letsswitch.zone_names() AS name")
        static let register = PostgresStatement(
            name: "register_task",
            sql: "SELECT * FROM letsswitch.register_task($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)")
        static let accept = PostgresStatement(
            name: "accept_invitation",
            sql: "SELECT * FROM letsswitch.accept_invitation($1, $2, $3, $4, $5, $6, $7, $8)")
        static let cancel = PostgresStatement(
            name: "cancel_task", sql: "SELECT * FROM letsswitch.cancel_task($1, $2, $3, $4, $5, $6, $7)")
        static let day = PostgresStatement(
            name: "day_schedule", sql: "SELECT * FROM letsswitch.day_schedule($1, $2, $3, $4, $5)")
    }

    private let database: PostgresClient
    private let settings: ScheduleSettings
    private let storage: StorageQuota

    package init(
        database: PostgresClient, settings: ScheduleSettings, storage: StorageQuota = StorageQuota()
    ) {
        self.database = database
        self.settings = settings
        self.storage = storage
    }

    /// The zones that requests may name: asked once, at start (PostgreSQL reads 1,200 files for it).
    package func timeZoneNames() async throws -> TimeZoneNames {
        let rows = try await database.query(Statement.timeZoneNames, [], timeout: nil)
        return TimeZoneNames(try rows.map { try $0.string("name") })
    }

    package func register(_ request: TaskRequest) async throws -> RegistrationOutcome {
        let isFull = storage.isFull(.tasks)
        let parameters: [PostgresParameter] =
            [.text(request.slot.device.text), .text(request.title)] + request.slot.parameters
            + [settings.reminderLead, settings.horizon, settings.roomDuration].map { .double($0 / .seconds(1)) }
            // Those who have a task already may still repeat and retitle it.
            + [
                .integer(isFull ? 0 : settings.maxTasksPerDevice), .double(settings.lateJoinWindow / .seconds(1)),
                request.invites ? .double(settings.invitationHold / .seconds(1)) : .null,
            ]
        let row = try await task(Statement.register, parameters)
        return try outcome(row, isFull: isFull)
    }

    /// The promise that an invitation is for, made by its guest.
    package func accept(_ request: InvitationRequest) async throws -> RegistrationOutcome {
        let isFull = storage.isFull(.tasks)
        let parameters: [PostgresParameter] =
            [
                .text(request.device.text), .text(request.token.text), .text(request.title),
                request.timeZone.map { .text($0) } ?? .null,
            ]
            + [settings.reminderLead, settings.horizon, settings.roomDuration].map { .double($0 / .seconds(1)) }
            + [.integer(isFull ? 0 : settings.maxTasksPerDevice)]
        return try outcome(try await task(Statement.accept, parameters), isFull: isFull)
    }

    private func outcome(_ row: TaskRow, isFull: Bool) throws -> RegistrationOutcome {
        switch row.code {
        case "created":
            storage.added(.tasks)
            let (task, change) = try row.decided()
            return .created(task, change)
        case "repeated":
            return .repeated(try row.decided().0)
        case "retitled":
            let (task, change) = try row.decided()
            return .retitled(task, change)
        case "too_many_tasks":
            return .refused(isFull ? .storageFull(.tasks) : .tooManyTasks(settings.maxTasksPerDevice))
        default:
            return .refused(try row.refusal())
        }
    }

    package func cancel(_ request: CancelRequest) async throws -> CancellationOutcome {
        let parameters: [PostgresParameter] =
            switch request {
            case .slot(let slot): [.text(slot.device.text), .null] + slot.parameters
            case .task(let task):
                [.text(task.device.text), .text(task.id.text), .null, .null, .null, .null, .null]
            }
        let row = try await task(Statement.cancel, parameters)
        guard row.code == "cancelled" else { return .refused(try row.refusal()) }
        let (task, change) = try row.decided()
        return .cancelled(task, change)
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
        let rows = try await database.query(namingZone: Statement.day, parameters)
        if try rows.first?.optionalString("problem") != nil { return .refused(.farFromMidnight) }
        return .day(ScheduleResponse(slots: try rows.map { try ScheduleResponse.Slot($0) }))
    }

    private func task(_ statement: PostgresStatement, _ parameters: [PostgresParameter]) async throws -> TaskRow {
        try TaskRow(try await database.query(namingZone: statement, parameters)[0])
    }
}

extension PostgresClient {
    /// A statement that is given a zone of the request.
    func query(
        namingZone statement: PostgresStatement, _ parameters: [PostgresParameter]
    ) async throws -> PostgresRows {
        do {
            return try await query(statement, parameters, timeout: nil)
        } catch let error as PostgresError where error.kind == .server(sqlState: "22023") {
            // The names were read at start; since then an update of the zones has taken this one away.
            throw RequestError.invalid("timeZone", "must be an IANA name like Europe/London")
        }
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

/// The times and numbers that tasks go by. Flags set them: see ``Setting`` in the daemon.
package struct ScheduleSettings: Hashable, Sendable {
    /// How long before its start a task's registration closes, its reminder goes out and its room opens.
    package var reminderLead: Duration = .seconds(60)
    /// How long after the start a promise may still be taken back or moved, and whoever is let down still be joined.
    package var lateJoin: Duration = .seconds(300)
    /// How long after the start, or after being paired anew, a partner who isn't in the room counts as not coming.
    package var noShowAfter: Duration = .seconds(60)
    /// How long before the lead a promise that somebody was invited to doesn't wait for that one alone any more.
    package var invitationHold: Duration = .seconds(300)
    /// How far ahead a task may be.
    package var horizon: Duration = .seconds(90 * 86_400)
    /// How long after the start a room closes. Fixed at registration, as the reminder is.
    package var roomDuration: Duration = .seconds(3600)
    /// How long after its start what is past is kept.
    package var retention: Duration = .seconds(30 * 86_400)
    /// Tasks of one device that haven't started; beyond it `429`.
    package var maxTasksPerDevice = 200
    /// Beyond it `429`.
    package var maxSeriesPerDevice = 20
    /// For so many days from today a series' promises are made ahead.
    package var seriesDays = 14

    package init() {}

    /// Nobody waits for a partner longer than there is a room for the two.
    var lateJoinWindow: Duration { min(lateJoin, roomDuration) }
}
