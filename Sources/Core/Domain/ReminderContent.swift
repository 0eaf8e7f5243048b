package import FoundationEssentials
package import Postgres
import Wire

/// The content of a reminder, for every provider and stream.
package struct ReminderContent: Sendable, Hashable {
    package let id: UUID
    package let taskId: UUID
    package let title: String
    package let startsAt: Instant
    /// On the clock of ``timeZone``: `09:00`.
    package let startTime: String
    package let timeZone: String
    /// Nil without a partner.
    package let roomId: UUID?
    /// The partner's title; nil without a partner, or if the partner was erased.
    package let partnerTask: String?
    /// Whether the reminder is an operator's test of the providers. Its task doesn't exist.
    package let isTest: Bool

    package init(
        id: UUID, taskId: UUID, title: String, startsAt: Instant, startTime: String, timeZone: String,
        roomId: UUID?, partnerTask: String?, isTest: Bool = false
    ) {
        self.isTest = isTest
        self.id = id
        self.taskId = taskId
        self.title = title
        self.startsAt = startsAt
        self.startTime = startTime
        self.timeZone = timeZone
        self.roomId = roomId
        self.partnerTask = partnerTask
    }

    /// Reads a row of the outbox, for streams and deliveries.
    package init(_ row: PostgresRow, id: UUID) throws {
        self.id = id
        taskId = try row.uuid("task_id")
        title = try row.string("title")
        startsAt = try row.instant("starts_at")
        startTime = try row.string("start_time")
        timeZone = try row.string("time_zone")
        roomId = try row.optionalUUID("room_id")
        partnerTask = try row.optionalString("partner_task")
        isTest = false
    }

    /// The JSON for streams, the webhook and Web Push: an object on one line, because JSON escapes line breaks.
    package var json: String { json(type: "reminder") }

    /// Returns the JSON with another type, for other notices about the task.
    package func json(type: String) -> String {
        var json = JSONText()
        json.object { object in
            object.member("type", type)
            object.member("id", id.text)
            object.member("taskId", taskId.text)
            object.member("title", title)
            object.member("startsAt", startsAt.description)
            object.member("startTime", startTime)
            object.member("timeZone", timeZone)
            object.member("roomId", roomId?.text)
            object.member("partnerTask", partnerTask)
            if isTest { object.member("test", true) }
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}
