package import Domain
package import FoundationEssentials
import Postgres

/// A reminder that has fired: a row of the outbox.
package struct Reminder: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
        case pending, delivered, missed
    }

    /// Tells a repeat.
    package let id: UUID
    /// Firing order, over all daemons.
    package let seq: Int
    package let taskId: UUID
    package let device: DeviceID
    /// The event as it is sent: JSON on one line.
    package let payload: String
    /// When it should have gone out, and when it did. Epoch seconds, by the database's clock.
    package let due: Double
    package let firedAt: Double
    package let startsAt: Instant
    /// Nil without a partner.
    package let roomId: UUID?
    package let state: State

    /// Seconds between due and fired.
    package var lateness: Double { max(0, firedAt - due) }

    /// Whether the task had started when it fired: missed from the beginning.
    package var isTooLate: Bool { Double(startsAt.seconds) <= firedAt }
}

extension Reminder {
    init(_ row: PostgresRow, id: UUID) throws {
        self.id = id
        seq = try row.integer("seq")
        taskId = try row.uuid("task_id")
        device = DeviceID(stored: try row.string("device_id"))
        payload = try row.string("payload")
        due = try row.double("due")
        firedAt = try row.double("fired_at")
        startsAt = try row.instant("starts_at")
        roomId = try row.optionalUUID("room_id")
        guard let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(kind: .decoding, message: "column state is no state")
        }
        self.state = state
    }
}
