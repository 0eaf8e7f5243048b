package import Domain
package import FoundationEssentials
package import Postgres

/// A reminder that has fired: a row of the outbox.
package struct Reminder: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case pending, delivered, missed
    }

    /// The reminder's id. Receivers recognise repeats by it.
    package let id: UUID
    /// The position in the claim order of all daemons.
    package let seq: Int
    package let taskId: UUID
    package let device: DeviceID
    /// The content. It is encoded as JSON only if a reader is subscribed, which is rare.
    package let content: ReminderContent
    /// The time at which the reminder was due, in epoch seconds of the database's clock.
    package let due: Double
    /// The time at which the reminder fired, in epoch seconds of the database's clock.
    package let firedAt: Double
    package let startsAt: Instant
    /// The match's room. `nil` without a partner.
    package let roomId: UUID?
    package let state: State

    /// The data of the event to send: JSON on one line.
    package var payload: String { content.json }

    /// The time between due and fired, in seconds.
    package var lateness: Double { max(0, firedAt - due) }

    /// Whether the task had already started when the reminder fired. The reminder then counts as missed.
    package var isTooLate: Bool { Double(startsAt.seconds) <= firedAt }
}

extension Reminder {
    package init(_ row: PostgresRow, id: UUID) throws {
        self.id = id
        seq = try row.integer("seq")
        taskId = try row.uuid("task_id")
        device = DeviceID(stored: try row.string("device_id"))
        content = try ReminderContent(row, id: id)
        due = try row.epoch("due_us")
        firedAt = try row.epoch("claimed_at_us")
        startsAt = try row.instant("starts_at")
        roomId = try row.optionalUUID("room_id")
        guard let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(kind: .decoding, message: "column state is not a valid state")
        }
        self.state = state
    }
}

/// A device's reminders whose task hasn't started, split by what a reader has already seen.
package struct ReminderBacklog: Sendable, Equatable {
    /// The reminders to send, in claim order.
    package let unseen: [Reminder]
    /// The reminders up to `Last-Event-ID`.
    package let seen: [Reminder]
    /// Whether the backlog is complete.
    package var isComplete = true

    /// The position of the last reminder, or 0 if there is none. No reminder before it is missing.
    package var through: Int { max(unseen.last?.seq ?? 0, seen.last?.seq ?? 0) }
}

/// A reminder that was marked as missed.
package struct ExpiredReminder: Hashable, Sendable {
    package let id: UUID
    package let taskId: UUID
}
