/// A call of the daemon into the database, to be timed with few and with many tasks stored.
struct StoredCall {
    let name: String
    /// Whether the call's result has the same size for any number of stored tasks.
    var isAlike = true
    /// The SQL that runs before each call. Its time isn't measured.
    var preparation: (@Sendable (_ run: Int) -> String)?
    let sql: @Sendable (_ run: Int) -> String

    /// Returns the calls that requests and timers make.
    ///
    /// - Parameters:
    ///   - count: The number of stored tasks.
    ///   - now: The time in epoch seconds, on the hour.
    static func all(_ count: Int, now: Int) -> [StoredCall] {
        let devices = count / StoredTasks.tasksPerDevice
        @Sendable func device(_ run: Int) -> String { "\(StoredTasks.device)\(run * 7919 % devices)" }
        @Sendable func slot(_ run: Int) -> Int { now + 3_600 * (2 + run * 37 % (StoredTasks.slots - 4)) }
        return [
            StoredCall(name: "register a task") { run in
                """
                SELECT * FROM schedule.register_task('new-\(run)', 'History', 'UTC', \(slot(run)), NULL, NULL, NULL, 60, \
                7776000, 3600)
                """
            },
            StoredCall(name: "cancel a task") { run in
                "SELECT * FROM schedule.cancel_task('new-\(run)', NULL, 'UTC', \(slot(run)), NULL, NULL, NULL)"
            },
            StoredCall(name: "a device's day") { run in
                """
                SELECT * FROM schedule.day_schedule('\(device(run))', 'UTC', NULL, \(now / WallClock.day + run % 20), true)
                """
            },
            StoredCall(name: "a device's reminders") { run in
                """
                SELECT *, seq > coalesce((
                    SELECT reminder.seq FROM reminders.reminder JOIN schedule.task ON task.id = reminder.task_id
                    WHERE reminder.id = md5('reminder\(run)')::uuid AND task.device_id = '\(device(run))'
                ), 0) FROM reminders.reminders_of('\(device(run))', 0, 1000)
                """
            },
            StoredCall(name: "a room") { run in
                "SELECT * FROM schedule.find_room(md5('room' || \(run * 7919 % (count / 2)))::uuid)"
            },
            StoredCall(name: "all rooms that are open", isAlike: false) { _ in
                "SELECT count(*) FROM reminders.open_rooms()"
            },
            StoredCall(name: "when something is due") { _ in "SELECT * FROM reminders.next_due()" },
            StoredCall(
                name: "claim a hundred tasks", preparation: { StoredTasks.makeDue(100, run: $0) },
                sql: { _ in "SELECT count(*) FROM reminders.claim_due(100)" }),
            StoredCall(name: "mark a hundred delivered") { _ in
                """
                SELECT count(*) FROM reminders.mark_delivered(ARRAY(
                    SELECT id FROM reminders.reminder ORDER BY id DESC LIMIT 100
                ))
                """
            },
            StoredCall(name: "give up what is late") { _ in "SELECT count(*) FROM reminders.expire_reminders()" },
            StoredCall(name: "purge a hundred, or what is left", isAlike: false) { _ in
                "SELECT reminders.delete_old(864000, 100)"
            },
            StoredCall(name: "erase a device") { run in
                "SELECT count(*) FROM core.erase_device('\(device(run))')"
            },
        ]
    }
}
