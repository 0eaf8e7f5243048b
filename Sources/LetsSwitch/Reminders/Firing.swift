package import Domain
import FoundationEssentials
import Postgres
package import Rooms

/// What a claim did: the reminders it wrote, in firing order, and the rooms it opened.
package struct Firing: Hashable, Sendable {
    /// What other daemons ask for, told by NOTIFY.
    package let batch: Int
    package let reminders: [Reminder]
    /// Those that are open, whether this claim opened them or one before.
    package let rooms: [OpenRoom]

    /// Slots that nobody can join any more.
    package var closedSlots: Set<Instant> {
        Set(reminders.lazy.filter { $0.roomId == nil }.map(\.startsAt))
    }
}

extension Firing {
    /// From rows of `letsswitch.fired` of one batch; nil when there are none.
    init?(_ rows: PostgresRows) throws {
        guard let firing = try Self.split(rows).first else { return nil }
        self = firing
    }

    /// From rows of `letsswitch.fired` in firing order: one for each batch.
    static func split(_ rows: PostgresRows) throws -> [Firing] {
        var firings: [Firing] = []
        var begin = rows.startIndex
        while begin < rows.endIndex {
            let batch = try rows[begin].integer("batch")
            let end = try rows[begin...].firstIndex { try $0.integer("batch") != batch } ?? rows.endIndex
            firings.append(try Firing(batch: batch, rows[begin..<end]))
            begin = end
        }
        return firings
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
                rooms.append(OpenRoom(id: room, closesAt: try row.double("closes_at")))
            }
        }
        self.batch = batch
        self.reminders = reminders
        self.rooms = rooms
    }
}
