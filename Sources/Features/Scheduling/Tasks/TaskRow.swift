import Domain
import Postgres

/// A row of `letsswitch.task_outcome`: what a statement decided, and the task that it decided about.
struct TaskRow {
    let code: String
    /// Nil when it was refused before a task was found.
    let task: TaskResponse?
    let change: ScheduleChange?

    init(_ row: PostgresRow) throws {
        code = try row.string("code")
        guard let id = try row.optionalUUID("id") else {
            task = nil
            change = nil
            return
        }
        guard let remindsAt = Instant(epoch: try row.double("reminds_at")) else {
            throw PostgresError(kind: .decoding, message: "column reminds_at is no instant")
        }
        let task = TaskResponse(
            id: id, device: DeviceID(stored: try row.string("device_id")), title: try row.string("title"),
            startTime: try row.string("start_time"), timeZone: try row.string("time_zone"),
            startsAt: try row.instant("starts_at"), remindsAt: remindsAt, isPaired: try row.boolean("is_paired"),
            partnerTitle: try row.optionalString("partner_title"), socketId: try row.uuid("room_id"),
            seriesId: try row.optionalUUID("series_id"),
            invitation: try row.optionalString("invitation").flatMap(InvitationToken.init(_:)))
        let partner = try row.optionalString("partner_device").map { DeviceID(stored: $0) }
        self.task = task
        change = ScheduleChange(
            startsAt: task.startsAt, devices: [task.device] + (partner.map { [$0] } ?? []),
            slotOpened: try row.optionalBoolean("slot_opened"))
    }

    /// Task and change, where the code promises them.
    func decided() throws -> (TaskResponse, ScheduleChange) {
        guard let task, let change else {
            throw PostgresError(kind: .decoding, message: "\(code) without a task")
        }
        return (task, change)
    }

    /// The answer to a code that stands for a refusal. Throws for one that nobody knows.
    func refusal() throws -> RequestError {
        let place = task.map { " at \($0.startTime)" } ?? ""
        return switch code {
        case "registration_closed":
            RequestError(
                status: 409, code: code, reason: "It is too late: registration\(place.isEmpty ? "" : place) is closed.")
        case "too_far_ahead":
            RequestError(status: 400, code: code, reason: "startsAt is too far ahead: 90 days are the most.")
        case "no_such_task":
            RequestError(status: 404, code: code, reason: "This device has no such task.")
        case "has_partner":
            RequestError(
                status: 409, code: code,
                reason: "Somebody counts on you\(place): a task with a partner can't be cancelled.")
        case "not_begun":
            RequestError(
                status: 409, code: "not_started",
                reason: "It isn't time yet.")
        case "slot_taken":
            RequestError(status: 409, code: code, reason: "This device has another promise for that time.")
        case "no_such_invitation", "invitation_used", "own_invitation": .invitation(code)
        case "far_from_midnight": .farFromMidnight
        case "skipped_time": .invalid("startTime", "is skipped on that day: the clocks are put forward")
        default: throw PostgresError(kind: .decoding, message: "unknown outcome \(code)")
        }
    }
}

extension RequestError {
    static func tooManyTasks(_ most: Int) -> RequestError {
        RequestError(
            status: 429, code: "too_many_tasks",
            reason: "This device has \(most) tasks that haven't started: as many as it may.",
            quota: .tasksPerDevice)
    }

    static let farFromMidnight = RequestError.invalid("timeZone", "has no midnight within three hours of date")
}
