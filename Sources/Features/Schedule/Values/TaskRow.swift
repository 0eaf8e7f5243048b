import Domain
import Postgres

/// A row of `schedule.task_outcome`: a statement's decision and its task.
struct TaskRow {
    let code: String
    /// `nil` if the request was refused before a task was found.
    let task: TaskResponse?
    let change: ScheduleChange?

    /// The columns of `schedule.task_outcome`.
    static let columns = "*, \(PostgresStatement.microseconds("reminds_at"))"

    /// Returns the statement that calls a function with this number of parameters. The statement has the function's
    /// name. The function must return `schedule.task_outcome`.
    static func statement(calling function: String, parameters count: Int) -> PostgresStatement {
        let parameters = (1...count).map { "$\($0)" }.joined(separator: ", ")
        return PostgresStatement(name: function, sql: "SELECT \(columns) FROM schedule.\(function)(\(parameters))")
    }

    init(_ row: PostgresRow) throws {
        code = try row.string("code")
        guard let id = try row.optionalUUID("id") else {
            task = nil
            change = nil
            return
        }
        let task = TaskResponse(
            id: id, device: DeviceID(stored: try row.string("device_id")), title: try row.string("title"),
            startTime: try row.string("start_time"), timeZone: try row.string("time_zone"),
            startsAt: try row.instant("starts_at"), remindsAt: try row.instant(microseconds: "reminds_at_us"),
            isPaired: try row.boolean("is_paired"),
            partnerTitle: try row.optionalString("partner_title"), socketId: try row.uuid("room_id"),
            seriesId: try row.optionalUUID("series_id"),
            invitation: try row.optionalString("invitation").flatMap(InvitationToken.init(_:)))
        let partner = try row.optionalString("partner_device").map { DeviceID(stored: $0) }
        self.task = task
        change = ScheduleChange(
            startsAt: task.startsAt, devices: [task.device] + (partner.map { [$0] } ?? []),
            slotOpened: try row.optionalBoolean("slot_opened"))
    }

    /// Returns the task and the change. Throws if the code has none.
    func decided() throws -> (TaskResponse, ScheduleChange) {
        guard let task, let change else {
            throw PostgresError(kind: .decoding, message: "\(code) without a task")
        }
        return (task, change)
    }

    /// Returns the answer for a refusal's code. Throws for an unknown code.
    func refusal() throws -> RequestError {
        let place = task.map { " at \($0.startTime)" } ?? ""
        let start = task.map { " for \($0.startTime)" } ?? ""
        return switch code {
        case "registration_closed":
            RequestError(
                status: 409, code: code, reason: "It is too late: registration\(start) has closed.")
        case "too_far_ahead":
            RequestError(status: 400, code: code, reason: "The start must be at most 90 days in the future.")
        case "no_such_task":
            RequestError(status: 404, code: code, reason: "This device has no such task.")
        case "has_partner":
            RequestError(
                status: 409, code: code,
                reason: "The task\(place) has a partner. To cancel it anyway, send DELETE /task/{id} with leave=true.")
        case "not_begun":
            RequestError(
                status: 409, code: "not_started",
                reason: "A task can't be marked as started before its start time.")
        case "slot_taken":
            RequestError(status: 409, code: code, reason: "This device already has another task at that time.")
        case "no_such_invitation", "invitation_used", "own_invitation": .invitation(code)
        case "far_from_midnight": .farFromMidnight
        case "skipped_time": .invalid("startTime", "doesn't exist on that day, because clocks are put forward")
        default: throw PostgresError(kind: .decoding, message: "unknown outcome \(code)")
        }
    }
}

extension RequestError {
    static func tooManyTasks(_ most: Int) -> RequestError {
        RequestError(
            status: 429, code: "too_many_tasks",
            reason: "This device already has \(most) tasks that haven't started, the maximum.",
            quota: .tasksPerDevice)
    }

    static let farFromMidnight = RequestError.invalid("timeZone", "must have a midnight within three hours of date")
}
