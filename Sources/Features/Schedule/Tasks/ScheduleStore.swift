package import Domain
package import Postgres

/// Tasks in the database. Every operation is one statement, so it takes one round trip and one transaction. The SQL
/// functions (SQL/) decide, and this type turns their answers into values.
///
/// Throws `PostgresError`. `RequestError(_:)` turns an unavailable database into `503`. If the outcome is unknown, the
/// client may repeat the request without harm.
package struct ScheduleStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
    private enum Statement {
        static let all = [timeZoneNames, register, accept, cancel]

        static let timeZoneNames = PostgresStatement(
            name: "time_zone_names", sql: "SELECT name FROM schedule.zone_names() AS name")
        static let register = TaskRow.statement(calling: "register_task", parameters: 13)
        static let accept = TaskRow.statement(calling: "accept_invitation", parameters: 8)
        static let cancel = TaskRow.statement(calling: "cancel_task", parameters: 7)
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

    /// Returns the time zones that requests may name. Called only once, at start, because PostgreSQL reads 1,200 files
    /// for this query.
    package func timeZoneNames() async throws -> TimeZoneNames {
        let rows = try await database.query(Statement.timeZoneNames, [], timeout: nil)
        return TimeZoneNames(try rows.map { try $0.string("name") })
    }

    package func register(_ request: TaskRequest) async throws -> RegistrationOutcome {
        let reservation = storage.reserve(in: .tasks)
        let parameters: [PostgresParameter] =
            [.text(request.slot.device.text), .text(request.title)] + request.slot.parameters
            + [settings.reminderLead, settings.horizon, settings.roomDuration].map { .double($0 / .seconds(1)) }
            // With a full quota, a device may still repeat and rename its tasks.
            + [
                .integer(reservation.isGranted ? settings.maxTasksPerDevice : 0),
                .double(settings.lateJoinWindow / .seconds(1)),
                request.invites ? .double(settings.invitationHold / .seconds(1)) : .null,
            ]
        let row = try await storage.using(reservation) { try await task(Statement.register, parameters) }
        return try outcome(row, reservation)
    }

    /// Registers the task of an invitation's guest.
    package func accept(_ request: InvitationRequest) async throws -> RegistrationOutcome {
        let reservation = storage.reserve(in: .tasks)
        let parameters: [PostgresParameter] =
            [
                .text(request.device.text), .text(request.token.text), .text(request.title),
                request.timeZone.map { .text($0) } ?? .null,
            ]
            + [settings.reminderLead, settings.horizon, settings.roomDuration].map { .double($0 / .seconds(1)) }
            + [.integer(reservation.isGranted ? settings.maxTasksPerDevice : 0)]
        let row = try await storage.using(reservation) { try await task(Statement.accept, parameters) }
        return try outcome(row, reservation)
    }

    private func outcome(_ row: TaskRow, _ reservation: StorageReservation) throws -> RegistrationOutcome {
        if row.code != "created" { storage.giveBack(reservation) }
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
            return .refused(reservation.refusal ?? .tooManyTasks(settings.maxTasksPerDevice))
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

    private func task(_ statement: PostgresStatement, _ parameters: [PostgresParameter]) async throws -> TaskRow {
        try TaskRow(try await database.query(namingZone: statement, parameters)[0])
    }
}
