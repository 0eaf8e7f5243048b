package import Domain
package import FoundationEssentials
package import Postgres
package import Rooms

/// Claims, the outbox and the rooms in the database. Every operation is one statement, so a daemon that stops between
/// operations holds no locks. Throws `PostgresError`.
///
///     NOTIFY letsswitch_due    payload: epoch seconds of a task that is due earlier than known before
///     NOTIFY letsswitch_claimed  payload: the batch of a committed claim
package struct ReminderStore: Sendable {
    package static let dueChannel = "letsswitch_due"
    package static let claimsChannel = "letsswitch_claimed"

    /// Identifies this process in its claims, through the setting `letsswitch.claimer` of its sessions. The daemon uses
    /// it to find its claims whose answers were lost.
    package static let claimer = UUID().text
    /// The maximum number of a device's reminders in one answer.
    package static let pageLimit = 1000
    /// The maximum number of answers that a backlog is read from. If there is more, the reader reconnects for the rest.
    private static let pages = 4

    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
    private enum Statement {
        static let all = [
            claimDue, claimEach, newestBatch, ownBatches, firedBetween, nextDue, markDelivered, expire, backlogOf,
            remindersOfMany, openRooms, findRoom, tasksOfRoom, closeRoom, tasksInRooms, devicesOfTasks,
        ]

        /// The columns of `reminders.claimed_reminder`.
        private static let claimed = """
            claimed.batch, claimed.reminder_id, claimed.seq, claimed.task_id, claimed.device_id, claimed.title,
            claimed.start_time, claimed.time_zone, claimed.partner_task, claimed.starts_at, claimed.room_id,
            claimed.room_opened, claimed.state,
            \(PostgresStatement.microseconds("due", "claimed_at", "closes_at"))
            """

        static let claimDue = PostgresStatement(
            name: "claim_due", sql: "SELECT \(claimed) FROM reminders.claim_due($1) AS claimed")
        static let claimEach = PostgresStatement(
            name: "claim_each", sql: "SELECT \(claimed) FROM reminders.claim_each($1) AS claimed")
        static let newestBatch = PostgresStatement(
            name: "newest_batch", sql: "SELECT coalesce(max(batch), 0) AS batch FROM reminders.claim")
        static let ownBatches = PostgresStatement(
            name: "own_batches",
            sql: """
                SELECT batch FROM reminders.claim WHERE batch > $2 AND claimer = $1 ORDER BY batch LIMIT 1000
                """)
        static let firedBetween = PostgresStatement(
            name: "claim_results", sql: "SELECT \(claimed) FROM reminders.claim_results($1, $2) AS claimed")
        static let nextDue = PostgresStatement(
            name: "next_due",
            sql: "SELECT \(PostgresStatement.microseconds("due", "expiry", "now")) FROM reminders.next_due()")
        static let markDelivered = PostgresStatement(
            name: "mark_delivered", sql: "SELECT reminder_id FROM reminders.mark_delivered($1::uuid[])")
        static let expire = PostgresStatement(
            name: "expire_reminders", sql: "SELECT reminder_id, task_id FROM reminders.expire_reminders()")
        /// Returns the backlog, and for each reminder whether it fired after the last one that the reader saw. If the
        /// id of that last one belongs to another device, no reminder counts as seen.
        static let backlogOf = PostgresStatement(
            name: "backlog_of",
            sql: """
                SELECT \(claimed), claimed.seq > coalesce((
                    SELECT reminder.seq FROM reminders.reminder JOIN schedule.task ON task.id = reminder.task_id
                    WHERE reminder.id = $2 AND task.device_id = $1
                ), 0) AS is_unseen
                FROM reminders.reminders_of($1, $3, $4) AS claimed
                """)
        static let remindersOfMany = PostgresStatement(
            name: "reminders_of_many",
            sql: """
                SELECT \(claimed) FROM unnest($1::text[]) AS device (id)
                CROSS JOIN LATERAL reminders.reminders_of(device.id, 0, $2) AS claimed
                ORDER BY claimed.seq
                """)
        static let openRooms = PostgresStatement(
            name: "open_rooms",
            sql: "SELECT room_id, \(PostgresStatement.microseconds("closes_at")) FROM reminders.open_rooms()")
        static let tasksOfRoom = PostgresStatement(
            name: "tasks_of_room",
            sql: "SELECT id FROM schedule.visible_task WHERE room_id = $1 AND device_id IS NOT NULL LIMIT 16")
        static let findRoom = PostgresStatement(
            name: "find_room",
            sql: """
                SELECT state, \(PostgresStatement.microseconds("opens_at", "closes_at", "now"))
                FROM schedule.find_room($1)
                """)
        static let tasksInRooms = PostgresStatement(
            name: "tasks_in_rooms", sql: "SELECT id FROM schedule.tasks_in_rooms($1) AS tasks (id)")
        static let devicesOfTasks = PostgresStatement(
            name: "devices_of_tasks",
            sql: """
                SELECT DISTINCT device_id FROM schedule.task
                WHERE id = ANY ($1::uuid[]) AND device_id IS NOT NULL
                """)
        static let closeRoom = PostgresStatement(name: "close_room", sql: "SELECT schedule.close_room($1) AS state")
    }

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Claims up to `limit` due tasks (at most 4,096), the longest due first. Returns `nil` if other sessions hold all
    /// of them, such as a running registration. Call again while there are due tasks.
    package func claimDue(limit: Int) async throws -> ClaimedBatch? {
        try await claim(limit, Statement.claimDue)
    }

    /// Claims each task separately. Used if one of the tasks can't be claimed. That task is postponed, and
    /// ``claimDue(limit:)`` tries it again later.
    package func claimEach(limit: Int) async throws -> ClaimedBatch? {
        try await claim(limit, Statement.claimEach)
    }

    private func claim(_ limit: Int, _ statement: PostgresStatement) async throws -> ClaimedBatch? {
        try ClaimedBatch(try await database.query(statement, [.integer(limit)], timeout: nil))
    }

    /// Returns the numbers of this daemon's claims after `batch`, in order. At most 1,000.
    package func ownBatches(after batch: Int) async throws -> [Int] {
        try await database.query(Statement.ownBatches, [.text(Self.claimer), .integer(batch)], timeout: nil)
            .map { try $0.integer("batch") }
    }

    /// Returns the number of the newest claim of any daemon, or 0 if there is none. All claims with lower numbers are
    /// committed, too.
    package func newestBatch() async throws -> Int {
        try await database.query(Statement.newestBatch, [], timeout: nil)[0].integer("batch")
    }

    /// Returns the claims after `batch` up to `last`, in claim order.
    package func claims(after batch: Int, upTo last: Int) async throws -> [ClaimedBatch] {
        let rows = try await database.query(
            Statement.firedBetween, [.integer(batch), .integer(last)], timeout: nil)
        return try ClaimedBatch.split(rows)
    }

    /// Returns the times of the next work, by the database's clock.
    package func nextDue() async throws -> NextDue {
        let row = try await database.query(Statement.nextDue, [], timeout: nil)[0]
        return NextDue(
            due: try row.optionalEpoch("due_us"), expiry: try row.optionalEpoch("expiry_us"),
            now: try row.epoch("now_us"))
    }

    /// Marks reminders that a stream or a provider accepted. Returns those that weren't marked as delivered or missed
    /// before.
    package func markDelivered(_ ids: [UUID]) async throws -> [UUID] {
        let rows = try await database.query(
            Statement.markDelivered, [.uuidArray(ids)], timeout: nil)
        return try rows.map { try $0.uuid("reminder_id") }
    }

    /// Marks reminders as missed if they weren't delivered within two seconds after the start.
    package func expire() async throws -> [ExpiredReminder] {
        let rows = try await database.query(Statement.expire, [], timeout: nil)
        return try rows.map { ExpiredReminder(id: try $0.uuid("reminder_id"), taskId: try $0.uuid("task_id")) }
    }

    /// Returns the backlog of a stream: the device's reminders whose task hasn't started. Those after `last` are
    /// unseen. The others are seen, and the stream must not send them later. If `last` belongs to another device, all
    /// are unseen.
    package func backlog(of device: DeviceID, after last: UUID?) async throws -> ReminderBacklog {
        var unseen: [Reminder] = []
        var seen: [Reminder] = []
        var after = 0
        for _ in 0..<Self.pages {
            // Reads both parts in one statement. Between two statements, a task could start, and its reminder would
            // count as seen.
            let rows = try await database.query(
                Statement.backlogOf,
                [
                    .text(device.text), last.map { .text($0.text) } ?? .null, .integer(after),
                    .integer(Self.pageLimit),
                ], timeout: nil)
            for row in rows {
                let reminder = try Reminder(row, id: try row.uuid("reminder_id"))
                after = reminder.seq
                // A missed reminder stays missed, even if the clock is set back and its task is in the future again.
                guard reminder.state != .missed else { continue }
                if try row.boolean("is_unseen") { unseen.append(reminder) } else { seen.append(reminder) }
            }
            if rows.count < Self.pageLimit { return ReminderBacklog(unseen: unseen, seen: seen) }
        }
        return ReminderBacklog(unseen: unseen, seen: seen, isComplete: false)
    }

    /// Returns the reminders of many devices whose tasks haven't started, in claim order. At most the first
    /// ``pageLimit`` of each device. Used if the devices' streams may have missed some.
    package func reminders(of devices: some Sequence<DeviceID>) async throws -> [Reminder] {
        let rows = try await database.query(
            Statement.remindersOfMany, [.textArray(devices.map(\.text)), .integer(Self.pageLimit)],
            timeout: nil)
        return try rows.map { try Reminder($0, id: try $0.uuid("reminder_id")) }
    }

    /// Returns the open rooms. Used when a daemon starts.
    package func openRooms() async throws -> [OpenRoom] {
        let rows = try await database.query(Statement.openRooms, [], timeout: nil)
        return try rows.map { OpenRoom(id: try $0.uuid("room_id"), closesAt: try $0.epoch("closes_at_us")) }
    }

    /// Returns a device's tasks whose rooms are open.
    package func tasksInRooms(of device: DeviceID) async throws -> [UUID] {
        try await database.query(Statement.tasksInRooms, [.text(device.text)], timeout: nil).map { try $0.uuid("id") }
    }

    /// Returns the devices of these tasks without duplicates.
    package func devices(ofTasks ids: [UUID]) async throws -> [DeviceID] {
        try await database.query(Statement.devicesOfTasks, [.uuidArray(ids)], timeout: nil)
            .map { DeviceID(stored: try $0.string("device_id")) }
    }

    package func findRoom(_ id: UUID) async throws -> RoomState {
        try RoomState(
            try await database.query(Statement.findRoom, [.text(id.text)], timeout: nil)[0])
    }

    /// Returns the tasks of a room's match.
    package func tasks(ofRoom id: UUID) async throws -> Set<UUID> {
        Set(try await database.query(Statement.tasksOfRoom, [.text(id.text)], timeout: nil).map { try $0.uuid("id") })
    }

    /// Closes a room early, if it is open.
    package func closeRoom(_ id: UUID) async throws -> RoomClosing {
        let rows = try await database.query(Statement.closeRoom, [.text(id.text)], timeout: nil)
        let state = try rows[0].string("state")
        guard let closing = RoomClosing(rawValue: state) else {
            throw PostgresError(kind: .decoding, message: "unknown state of a room: \(state)")
        }
        return closing
    }
}

/// The result of closing a room early.
package enum RoomClosing: String, Sendable {
    /// The room was open and is now closed.
    case closed = "open"
    case notOpen = "not_open"
    case over = "closed"
    case unknown
}
