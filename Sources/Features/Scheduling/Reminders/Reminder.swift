package import Domain
package import FoundationEssentials
package import Postgres

/// A reminder that has fired: a row of the outbox.
package struct Reminder: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case pending, delivered, missed
    }

    /// Tells a repeat.
    package let id: UUID
    /// ClaimedBatch order, over all daemons.
    package let seq: Int
    package let taskId: UUID
    package let device: DeviceID
    /// What it says. It becomes JSON for those who listen, who are few.
    package let content: ReminderContent
    /// When it should have gone out, and when it did. Epoch seconds, by the database's clock.
    package let due: Double
    package let firedAt: Double
    package let startsAt: Instant
    /// Nil without a partner.
    package let roomId: UUID?
    package let state: State

    /// The event as it is sent: JSON on one line.
    package var payload: String { content.json }

    /// Seconds between due and fired.
    package var lateness: Double { max(0, firedAt - due) }

    /// Whether the task had started when it fired: missed from the beginning.
    package var isTooLate: Bool { Double(startsAt.seconds) <= firedAt }
}

extension Reminder {
    package init(_ row: PostgresRow, id: UUID) throws {
        self.id = id
        seq = try row.integer("seq")
        taskId = try row.uuid("task_id")
        device = DeviceID(stored: try row.string("device_id"))
        content = try ReminderContent(row, id: id)
        due = try row.double("due")
        firedAt = try row.double("fired_at")
        startsAt = try row.instant("starts_at")
        roomId = try row.optionalUUID("room_id")
        guard let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(kind: .decoding, message: "column state is not a valid state")
        }
        self.state = state
    }
}

/// A device's reminders whose task hasn't started, as a reader of its stream stands to them.
package struct ReminderBacklog: Sendable, Equatable {
    /// In firing order.
    package let unseen: [Reminder]
    /// Those up to `Last-Event-ID`.
    package let seen: [Reminder]
    /// Whether there are no more.
    package var isComplete = true

    /// The last in firing order; 0 without any. Of what fired before it nothing is missing.
    package var through: Int { max(unseen.last?.seq ?? 0, seen.last?.seq ?? 0) }
}

/// A reminder that was given up.
package struct ExpiredReminder: Hashable, Sendable {
    package let id: UUID
    package let taskId: UUID
}
