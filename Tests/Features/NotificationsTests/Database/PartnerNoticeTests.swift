import Domain
import Features
import FoundationEssentials
import Reminders
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Notifications
@testable import Schedule

/// Notifications about a changed partner use the providers of reminders.
@Suite struct PartnerNoticeTests {
    private static let nine = "2026-11-22T09:00:00Z"

    /// Makes Ada and Bob partners at nine. Bob has an address for each of the three providers.
    private static func pair(_ database: ScheduleDatabase) async throws -> (ada: TaskResponse, bob: TaskResponse) {
        try await database.serve([.ntfy, .webPush, .apns])
        for (address, provider) in [("topic", ProviderName.ntfy), ("subscription", .webPush), ("beef", .apns)] {
            try await database.addresses.register(address, of: DeviceID(stored: "bob"), in: provider, most: 1)
        }
        return (
            try #require(try await database.register("ada", nine).task),
            try #require(try await database.register("bob", nine, "Maths").task)
        )
    }

    private static func leave(_ task: TaskResponse, _ database: ScheduleDatabase) async throws {
        let store = PartnerStore(database: database.client, settings: ScheduleSettings())
        _ = try await store.leave(OwnTask(id: task.id, device: task.device))
    }

    /// Leases what is due now. Returns the notifications about partners.
    private static func notices(
        _ database: ScheduleDatabase, _ provider: ProviderName = .ntfy
    ) async throws -> [PartnerNotice] {
        try await database.lease(provider).deliveries.compactMap {
            if case .partnerChanged(let notice) = $0.content { notice } else { nil }
        }
    }

    /// Enters the task's current room.
    private static func come(_ task: TaskResponse, _ database: ScheduleDatabase) async throws {
        let room = try await database.run(
            """
            INSERT INTO core.attendance (room_id, task_id, closes_at, joined_at, changed_at, present, visits, most_peers)
            SELECT room_id, id, closes_at, now(), now(), 1, 1, 1 FROM schedule.task WHERE id = '\(task.id)'
            ON CONFLICT (room_id, task_id) DO UPDATE SET present = 1 RETURNING room_id
            """)
        #expect(room.count == 1)
    }

    /// Reports leased notifications as sent.
    private static func finish(_ database: ScheduleDatabase) async throws {
        try await database.run("DELETE FROM core.delivery WHERE attempts > 0")
    }

    @Test("A user whose partner left is notified at every address")
    func everyWay() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.addresses.register("ada's", of: DeviceID(stored: "ada"), in: .ntfy, most: 1)
            let match = try await Self.pair(database)
            try await Self.leave(match.ada, database)
            for (provider, address) in [(ProviderName.ntfy, "topic"), (.webPush, "subscription"), (.apns, "beef")] {
                let deliveries = try await database.lease(provider).deliveries
                #expect(deliveries.map(\.address) == [address])
                let delivery = try #require(deliveries.first)
                #expect(delivery.event == "partnerChanged" && !delivery.isUrgent && delivery.timeLeft == 3600)
                guard case .partnerChanged(let notice) = delivery.content else {
                    Issue.record("it is no notice")
                    continue
                }
                #expect(notice.task.taskId == match.bob.id && notice.task.roomId == nil && notice.day == nil)
                #expect(notice.sentence(partner: nil) == "You have no partner at 09:00 any more.")
                let json = try TestJSON(parsing: Array(WebPushProvider.text(of: delivery).utf8))
                #expect(json["type"] == "partnerChanged" && json["title"] == "Maths" && json["startTime"] == "09:00")
            }
        }
    }

    @Test(
        "A user reminded without a partner is notified of one after an unblock"
    )
    func unblocked() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.serve([.ntfy])
            for device in ["ada", "bob"] {
                try await database.addresses.register(device, of: DeviceID(stored: device), in: .ntfy, most: 1)
            }
            let block = UUID()
            try await database.run(
                """
                INSERT INTO core.block (id, device_id, blocked_id, name, blocked_at)
                VALUES ('\(block)', 'ada', 'bob', 'bob', now())
                """)
            let ada = try #require(try await database.register("ada", Self.nine).task)
            #expect(try await database.register("bob", Self.nine, "Maths").task?.isPaired == false)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await Self.notices(database).isEmpty)
            try await Self.finish(database)
            try await Self.come(ada, database)
            try await database.run("SELECT conversations.remove_block('ada', '\(block)')")
            let notices = try await Self.notices(database)
            #expect(notices.map(\.task.partnerTask) == ["History"] && notices.map(\.task.title) == ["Maths"])
        }
    }

    @Test(
        "A user reminded without a partner is notified of one after an invitation lapses",
        arguments: ["ada", "bob"])
    func lapsed(_ present: String) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.serve([.ntfy])
            for device in ["ada", "bob"] {
                try await database.addresses.register(device, of: DeviceID(stored: device), in: .ntfy, most: 1)
            }
            let slot = try ScheduleDatabase.request("ada", Self.nine, "History", zone: "UTC").slot
            let ada = try #require(
                try await database.schedule.register(TaskRequest(slot: slot, title: "History", invites: true)).task)
            let bob = try #require(try await database.register("bob", Self.nine, "Maths").task)
            // No daemon has looked since the pause ended.
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await Self.notices(database).isEmpty)
            try await Self.finish(database)
            try await Self.come(present == "ada" ? ada : bob, database)
            #expect(try await InvitationStore(database: database.client).free(ada.id))
            let notices = try await Self.notices(database)
            #expect(notices.map(\.task.taskId) == [present == "ada" ? bob.id : ada.id])
            #expect(notices.map(\.task.partnerTask) == [present == "ada" ? "History" : "Maths"])
        }
    }

    @Test("A user reminded without a partner is notified of one after a third user leaves")
    func besideALeaver() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.serve([.ntfy])
            let ada = try #require(try await database.register("ada", Self.nine).task)
            for (device, title) in [("bob", "Maths"), ("cem", "Art")] {
                try await database.addresses.register(device, of: DeviceID(stored: device), in: .ntfy, most: 1)
                _ = try await database.register(device, Self.nine, title)
            }
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            #expect(try await Self.notices(database).isEmpty)
            try await Self.finish(database)
            try await Self.leave(ada, database)
            let notices = try await Self.notices(database)
            #expect(Set(notices.map(\.task.title)) == ["Maths", "Art"])
            #expect(Set(notices.map(\.task.partnerTask)) == ["Maths", "Art"])
        }
    }

    @Test("A notice names the new partner within the provider's limit")
    func instead() async throws {
        try await ScheduleDatabase.with(now: "2026-11-21 23:30Z") { database in
            let match = try await Self.pair(database)
            _ = try await database.register("cem", Self.nine, "Art")
            try await Self.leave(match.ada, database)
            let notice = try #require(try await Self.notices(database).first)
            let message = NtfyMessage(notice, topic: "topic", publicURL: "https://example.org")
            #expect(message.message == "Another partner starts with you at 09:00 on Sun 22 Nov: Art")
            #expect(message.title == "Maths" && message.click == "https://example.org/#room/\(Self.nine)")
            let payload = try TestJSON(parsing: APNsPayload.json(notice))
            #expect(payload["aps"]["alert"]["body"].string == message.message && payload["partnerTask"] == "Art")
            #expect(payload["type"] == "partnerChanged")
        }
    }

    @Test(
        "Repeated changes are notified rarely and with the current state"
    )
    func pace() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await Self.leave(match.ada, database)
            #expect(try await Self.notices(database).count == 1)
            for device in ["cem", "dan", "eva"] {
                let other = try #require(try await database.register(device, Self.nine, device).task)
                #expect(other.isPaired)
                if device != "eva" { try await Self.leave(other, database) }
            }
            #expect(try await database.count("core.delivery WHERE channel = 'apns'") == 2)
            #expect(try await Self.notices(database).isEmpty)
            try await Self.finish(database)
            // The pause is an eighth of the time that was left before the start.
            try await database.setClock("2026-11-22 08:07:29Z")
            #expect(try await Self.notices(database).isEmpty)
            try await database.setClock("2026-11-22 08:07:30Z")
            #expect(try await Self.notices(database).map(\.task.partnerTask) == ["eva"])

            let store = PartnerStore(database: database.client, settings: ScheduleSettings())
            let ten = try #require(Instant("2026-11-22T10:00:00Z"))
            _ = try await store.move(
                MoveRequest(task: OwnTask(id: match.bob.id, device: match.bob.device), slot: .at(ten)))
            let moved = try await database.lease(.apns)
            #expect(moved.deliveries.isEmpty && moved.orphans.count == 2)
            _ = try await database.erasures.erase(match.bob.device)
            #expect(try await database.lease(.webPush).deliveries.isEmpty)
        }
    }

    @Test(
        "After the lead, notices are sent while the room is open"
    )
    func afterTheLead() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            _ = try await database.lease(.ntfy)
            try await database.setClock("2026-11-22 09:01Z")
            try await Self.leave(match.ada, database)
            let left = try #require(
                try await database.lease(.ntfy).deliveries.first { $0.event == "partnerChanged" })
            #expect(left.timeLeft == 3540)
            try await Self.finish(database)
            try await database.setClock("2026-11-22 09:02:30Z")
            let cem = try #require(try await database.register("cem", Self.nine, "Art").task)
            #expect(cem.isPaired)
            #expect(try await Self.notices(database).map(\.task.partnerTask) == ["Art"])

            try await Self.leave(cem, database)
            try await database.run("UPDATE schedule.task SET notified_at = NULL")
            try await database.run("DELETE FROM core.delivery")
            try await Self.come(match.bob, database)
            #expect(try await database.register("dan", Self.nine).task?.isPaired == true)
            #expect(try await database.count("core.delivery WHERE NOT urgent") == 0)
        }
    }

    @Test("An absent user whose partner has another match is notified once")
    func absent() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await database.addresses.register("ada's", of: DeviceID(stored: "ada"), in: .ntfy, most: 1)
            try await database.setClock("2026-11-22 08:59:10Z")
            _ = try await database.reminders.claimDue(limit: 10)
            _ = try await database.lease(.ntfy)
            try await Self.come(match.ada, database)
            try await database.setClock("2026-11-22 09:02Z")
            let rematches = RematchStore(
                database: database.client, settings: ScheduleSettings(), grace: .seconds(15))
            #expect(try await rematches.rematch(try #require(Instant(Self.nine))) == 0)
            #expect(try await database.register("cem", Self.nine, "Art").task?.isPaired == true)
            let deliveries = try await database.lease(.ntfy).deliveries.filter { $0.event == "partnerChanged" }
            #expect(deliveries.map(\.address) == ["topic"])
            guard case .partnerChanged(let notice) = try #require(deliveries.first).content else {
                Issue.record("it is no notice")
                return
            }
            #expect(notice.task.taskId == match.bob.id && notice.task.roomId == nil)
        }
    }

    @Test("A notice that waits beyond the start is sent after it")
    func overTheStart() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await database.setClock("2026-11-22 08:59:20Z")
            try await Self.leave(match.ada, database)
            #expect(try await Self.notices(database).count == 1)
            try await Self.finish(database)
            try await database.setClock("2026-11-22 08:59:40Z")
            try await database.run(
                "SELECT schedule.notify_partner_changed(task) FROM schedule.task WHERE id = '\(match.bob.id)'")
            #expect(try await Self.notices(database).isEmpty)
            try await database.setClock("2026-11-22 09:00:20Z")
            #expect(try await Self.notices(database).count == 1)
        }
    }

    @Test("A waiting notice isn't sent to a user who has entered the room")
    func inTheRoom() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await database.setClock("2026-11-22 09:01Z")
            try await Self.leave(match.ada, database)
            #expect(try await Self.notices(database).count == 1)
            try await Self.finish(database)
            #expect(try await database.register("cem", Self.nine, "Art").task?.isPaired == true)
            #expect(try await database.count("core.delivery WHERE channel = 'ntfy'") == 1)
            try await Self.come(match.bob, database)
            try await database.setClock("2026-11-22 09:02:30Z")
            let leased = try await database.lease(.ntfy)
            #expect(leased.deliveries.isEmpty && leased.orphans.count == 1)
        }
    }

    @Test("A waiting notice is sent once, with the current state")
    func onceAfterOutage() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let match = try await Self.pair(database)
            try await database.addresses.register("other", of: DeviceID(stored: "bob"), in: .ntfy, most: 2)
            try await database.setClock("2026-11-22 09:00:30Z")
            try await Self.leave(match.ada, database)
            for time in ["09:01:00", "09:02:00", "09:03:40"] {
                try await database.setClock("2026-11-22 \(time)Z")
                try await database.run(
                    "SELECT schedule.notify_partner_changed(task) FROM schedule.task WHERE id = '\(match.bob.id)'")
            }
            #expect(try await database.count("core.delivery WHERE channel = 'ntfy' AND NOT urgent") > 2)
            let leased = try await database.lease(.ntfy)
            let notices = leased.deliveries.filter { $0.event == "partnerChanged" }
            #expect(
                Set(notices.compactMap(\.address)) == ["topic", "other"] && notices.count == 2
                    && !leased.orphans.isEmpty)
        }
    }

    @Test("Notices for unserved providers aren't written")
    func unserved() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let ada = try #require(try await database.register("ada", Self.nine).task)
            _ = try await database.register("bob", Self.nine)
            try await database.addresses.register("topic", of: DeviceID(stored: "bob"), in: .ntfy, most: 1)
            try await Self.leave(ada, database)
            #expect(try await database.count("core.delivery") == 0)
        }
    }
}
