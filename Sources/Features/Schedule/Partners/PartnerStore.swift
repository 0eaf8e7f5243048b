import Domain
import FoundationEssentials
package import Postgres

/// Cancels and moves tasks that may have a partner. Every operation is one statement, and SQL/partners.sql and
/// moves.sql decide.
///
/// Throws like ``ScheduleStore``. A statement that was aborted by a conflict is repeated.
///
///     NOTIFY letsswitch_dissolved  payload: a room whose match was dissolved
package struct PartnerStore: Sendable {
    package static let dissolvedChannel = "letsswitch_dissolved"

    /// The names of the statements, for metrics.
    package static let statementNames = [leave.name, move.name]

    private static let leave = TaskRow.statement(calling: "leave_task", parameters: 3)
    private static let move = TaskRow.statement(calling: "move_task", parameters: 13)

    private let database: PostgresClient
    private let settings: ScheduleSettings

    package init(database: PostgresClient, settings: ScheduleSettings) {
        self.database = database
        self.settings = settings
    }

    /// Cancels a task, even if it has a partner.
    package func leave(_ task: OwnTask) async throws -> PartingOutcome {
        let rows = try await database.query(
            Self.leave, [.text(task.device.text), .text(task.id.text), seconds(settings.lateJoinWindow)],
            timeout: nil)
        return try outcome(rows, whenDone: "left")
    }

    /// Moves a task to another slot, or leaves it unchanged if the move is refused.
    package func move(_ request: MoveRequest) async throws -> PartingOutcome {
        let zone: PostgresParameter = request.timeZone.map { .text($0) } ?? .null
        let rows = try await database.query(
            namingZone: Self.move,
            [.text(request.task.device.text), .text(request.task.id.text), zone] + request.slot.parameters
                + [settings.reminderLead, settings.horizon, settings.roomDuration, settings.lateJoinWindow].map(seconds)
                + [.integer(settings.maxTasksPerDevice), seconds(settings.invitationHold)])
        return try outcome(rows, whenDone: "moved")
    }

    private func seconds(_ duration: Duration) -> PostgresParameter { .double(duration / .seconds(1)) }

    private func outcome(_ rows: PostgresRows, whenDone done: String) throws -> PartingOutcome {
        let rows = try rows.map(TaskRow.init)
        guard let first = rows.first else { throw PostgresError(kind: .decoding, message: "an outcome without rows") }
        switch first.code {
        case done:
            return .done(
                try first.decided().0, try rows.map { try $0.decided().1 },
                newMatches: rows.count { $0.code != "left" && $0.task?.isPaired == true })
        case "repeated":
            return .unchanged(try first.decided().0)
        case "too_many_tasks":
            return .refused(.tooManyTasks(settings.maxTasksPerDevice))
        default:
            return .refused(try first.refusal())
        }
    }
}
