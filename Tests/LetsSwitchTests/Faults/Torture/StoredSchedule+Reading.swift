import Foundation
import Postgres

@testable import Domain
@testable import LetsSwitch
@testable import Scheduling

extension StoredSchedule {
    /// Reads what is there now.
    init(in world: TortureWorld) async throws {
        let tasks = try await world.sql(
            """
            SELECT task.id, task.device_id, extract(epoch FROM task.starts_at)::bigint AS slot, task.room_id,
                task.partner_id, partner.device_id AS partner_device, task.reminds_at <= letsswitch.clock() AS is_due,
                (SELECT count(*) FROM letsswitch.due WHERE due.task_id = task.id) AS waiting
            FROM letsswitch.task LEFT JOIN letsswitch.task AS partner ON partner.id = task.partner_id
            """)
        let reminders = try await world.sql("SELECT id, task_id, state FROM letsswitch.reminder")
        self.init(
            tasks: try tasks.map { row in
                Task(
                    id: try row.uuid("id"), device: try row.string("device_id"), slot: try row.integer("slot"),
                    room: try row.uuid("room_id"), partner: try row.optionalUUID("partner_id"),
                    partnerDevice: try row.optionalString("partner_device"), isDue: try row.boolean("is_due"),
                    waiting: try row.integer("waiting"))
            },
            reminders: try reminders.map { row in
                Reminder(id: try row.uuid("id"), task: try row.uuid("task_id"), state: try row.string("state"))
            })
    }
}
