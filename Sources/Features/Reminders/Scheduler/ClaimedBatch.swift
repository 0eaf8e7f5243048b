package import Domain
import FoundationEssentials
import Postgres
package import Rooms

/// The result of a claim: the reminders that it wrote, in claim order, and the rooms that it opened.
package struct ClaimedBatch: Hashable, Sendable {
    /// The claim's number. NOTIFY carries it, so that other daemons can read the claim.
    package let batch: Int
    package let reminders: [Reminder]
    /// The open rooms of these reminders. This claim or an earlier one opened them.
    package let rooms: [OpenRoom]

    /// The slots that can't be joined any more: those of reminders without a partner.
    package var closedSlots: Set<Instant> {
        Set(reminders.lazy.filter { $0.roomId == nil }.map(\.startsAt))
    }
}

extension ClaimedBatch {
    /// Creates a claim from the rows of `reminders.claimed_reminder` of one batch. Returns `nil` if there are no rows.
    init?(_ rows: PostgresRows) throws {
        guard let claim = try Self.split(rows).first else { return nil }
        self = claim
    }

    /// Returns the claims in rows of `reminders.claimed_reminder`, in claim order.
    static func split(_ rows: PostgresRows) throws -> [ClaimedBatch] {
        var claims: [ClaimedBatch] = []
        var begin = rows.startIndex
        while begin < rows.endIndex {
            let batch = try rows[begin].integer("batch")
            let end = try rows[begin...].firstIndex { try $0.integer("batch") != batch } ?? rows.endIndex
            claims.append(try ClaimedBatch(batch: batch, rows[begin..<end]))
            begin = end
        }
        return claims
    }

    private init(batch: Int, _ rows: some Sequence<PostgresRow>) throws {
        var reminders: [Reminder] = []
        var rooms: [OpenRoom] = []
        var seen: Set<UUID> = []
        for row in rows {
            if let id = try row.optionalUUID("reminder_id") {
                reminders.append(try Reminder(row, id: id))
            }
            if try row.boolean("room_opened"), let room = try row.optionalUUID("room_id"), seen.insert(room).inserted {
                rooms.append(OpenRoom(id: room, closesAt: try row.epoch("closes_at_us")))
            }
        }
        self.batch = batch
        self.reminders = reminders
        self.rooms = rooms
    }
}

/// The times at which the scheduler has work, in epoch seconds of the database's clock.
package struct NextDue: Hashable, Sendable {
    /// The time of the earliest task to claim. `nil` if there is none.
    package let due: Double?
    /// The earliest time at which an undelivered reminder must be marked as missed. `nil` if there is none.
    package let expiry: Double?
    package let now: Double
}

extension RoomState {
    init(_ row: PostgresRow) throws {
        switch try row.string("state") {
        case "open": self = .open(closesAt: try row.epoch("closes_at_us"))
        case "not_open": self = .notOpen(opensAt: try row.epoch("opens_at_us"), now: try row.epoch("now_us"))
        case "closed": self = .closed
        case "unknown": self = .unknown
        default: throw PostgresError(kind: .decoding, message: "column state is not a valid state of a room")
        }
    }
}
