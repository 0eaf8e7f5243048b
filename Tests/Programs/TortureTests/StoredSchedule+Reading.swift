import Foundation
import Postgres

@testable import Domain
@testable import Reminders

extension StoredSchedule {
    /// Reads the stored data.
    init(in world: TortureWorld) async throws {
        let tasks = try await world.sql(
            """
            SELECT task.id, task.device_id, extract(epoch FROM task.starts_at)::bigint AS slot, task.room_id,
                task.partner_id, partner.device_id AS partner_device, task.reminds_at <= core.clock() AS is_due,
                extract(epoch FROM task.reminds_at)::bigint AS reminds_at, task.invites_until IS NOT NULL AS waits_for_guest,
                date_part('epoch', task.began_at)::bigint AS started_at,
                (SELECT count(*) FROM schedule.due WHERE due.task_id = task.id) AS waiting
            FROM schedule.task LEFT JOIN schedule.task AS partner ON partner.id = task.partner_id
            """)
        let reminders = try await world.sql("SELECT id, task_id, state FROM reminders.reminder")
        self.init(
            tasks: try tasks.map { row in
                Task(
                    id: try row.uuid("id"), device: try row.optionalString("device_id") ?? "",
                    slot: try row.integer("slot"),
                    room: try row.uuid("room_id"), partner: try row.optionalUUID("partner_id"),
                    partnerDevice: try row.optionalString("partner_device"), isDue: try row.boolean("is_due"),
                    waiting: try row.integer("waiting"), remindsAt: try row.integer("reminds_at"),
                    waitsForGuest: try row.boolean("waits_for_guest"),
                    startedAt: try row.isNull("started_at") ? nil : row.integer("started_at"))
            },
            reminders: try reminders.map { row in
                Reminder(id: try row.uuid("id"), task: try row.uuid("task_id"), state: try row.string("state"))
            })
        blocks = try await Self.relations("SELECT id, device_id, blocked_id AS other FROM core.block", in: world)
        preferences = try await Self.relations(
            "SELECT id, device_id, preferred_id AS other FROM schedule.preference", in: world)
        series = Set(
            try await world.sql("SELECT device_id FROM schedule.series").map { try $0.string("device_id") })
        erasing = Set(
            try await world.sql("SELECT device_id FROM core.erasure").map { try $0.string("device_id") })
        now = try await world.sql("SELECT extract(epoch FROM core.clock())::bigint AS now")[0].integer("now")
    }

    private static func relations(_ sql: String, in world: TortureWorld) async throws -> [Relation: UUID] {
        var relations: [Relation: UUID] = [:]
        for row in try await world.sql(sql) {
            relations[Relation(device: try row.string("device_id"), other: try row.string("other"))] = try row.uuid(
                "id")
        }
        return relations
    }
}
