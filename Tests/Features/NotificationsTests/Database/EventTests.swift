import Basics
import Domain
import Features
import FoundationEssentials
import Postgres
import Reminders
import Rooms
import ScheduleTestSupport
import Sockets
import TestSupport
import Testing

@testable import Matches
@testable import Notifications
@testable import Schedule

/// Events in the database.
@Suite struct EventTests {
    private static let before = "2026-11-22T08:00:00Z"

    private func device(_ name: String) -> DeviceID { DeviceID(stored: name) }

    @Test("Applying all events in the order of their numbers gives the existing tasks")
    func order() async throws {
        try await ScheduleDatabase.with(now: Self.before, connections: 8) { database in
            try await database.serve([.webhook])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<8 {
                    group.addTask {
                        for step in 0..<24 {
                            // There are few slots and devices, so that the workers' actions conflict.
                            let (device, slot) = ("d\((worker + step) % 5)", "2026-11-22T09:0\(step % 4):00Z")
                            if (worker + step) % 3 == 2 {
                                _ = try await database.cancel(device, slot)
                            } else {
                                _ = try await database.register(device, slot, "\(worker) \(step)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let rows = try await database.run(
                """
                SELECT type, array_to_string(task_ids, ',') AS tasks, title, person FROM core.event ORDER BY number
                """)
            var titles: [String: String] = [:]
            var owners: [String: String] = [:]
            for row in rows {
                let tasks = try row.string("tasks")
                switch try row.string("type") {
                case "task.registered":
                    #expect(titles[tasks] == nil)
                    titles[tasks] = try row.string("title")
                    owners[tasks] = try row.string("person")
                case "task.retitled":
                    #expect(titles[tasks] != nil)
                    titles[tasks] = try row.string("title")
                case "task.cancelled": #expect(titles.removeValue(forKey: tasks) != nil)
                default: #expect(tasks.split(separator: ",").allSatisfy { titles["\($0)"] != nil })
                }
                if let person = try row.optionalString("person") { #expect(owners[tasks] == person) }
            }
            let left = try await database.run("SELECT id, title FROM schedule.task")
            #expect(try titles == Dictionary(left.map { (try $0.string("id"), try $0.string("title")) }) { $1 })
            #expect(Set(owners.values).count == 5)
            let matches = try await database.count("core.event WHERE type = 'match.created'")
            #expect(try await database.count("schedule.task WHERE partner_id IS NOT NULL") == 2 * matches)
        }
    }

    @Test("Without a receiver no event is written")
    func nobody() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            _ = try await database.claimMatch(for: [.ntfy])
            _ = try await database.erasures.erase(device("ada"))
            #expect(try await database.count("core.event") == 0)
        }
    }

    @Test("An erasure is reported once, and removes the device's data from waiting events")
    func erased() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            _ = try await database.claimMatch(for: [.webhook])
            _ = try await database.erasures.erase(device("ada"))
            _ = try await database.erasures.erase(device("ada"))
            _ = try await database.erasures.erase(device("stranger"))
            let deliveries = try await database.lease(.webhook).deliveries
            #expect(deliveries.filter { $0.event == "device.erased" }.count == 1)
            #expect(!deliveries.contains { $0.payload.namesAda })
            let first = try #require(deliveries.first { $0.event == "task.registered" })
            let last = try #require(deliveries.last)
            let (person, erased) = (
                try TestJSON(parsing: Array(first.payload.utf8)), try TestJSON(parsing: Array(last.payload.utf8))
            )
            #expect(first.title == nil)
            #expect(person["person"].string?.utf8.count == 32)
            #expect(erased["person"] == person["person"])
            #expect(last.event == "device.erased")
        }
    }

    @Test("The end of a match is reported before its cause")
    func leave() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [.webhook])
            let ada = try #require(claim.reminders.first { $0.device == device("ada") })
            let store = PartnerStore(database: database.client, settings: ScheduleSettings())
            _ = try await store.leave(OwnTask(id: ada.taskId, device: device("ada")))
            try await database.setClock("2026-11-22T08:59:02Z")
            let deliveries = try await database.lease(.webhook).deliveries.filter { !$0.isUrgent }
            let ordered = try deliveries.map { (try TestJSON(parsing: Array($0.payload.utf8)), $0.event) }
                .sorted { $0.0["number"].int ?? 0 < $1.0["number"].int ?? 0 }
            #expect(
                ordered.suffix(3).map(\.1) == ["match.ended", "task.cancelled", "room.closed"])
            let ended = try #require(ordered.first { $0.1 == "match.ended" }?.0)
            #expect(ended["taskIds"].array?.count == 2)
            #expect(ended["person"] == ordered.first { $0.1 == "task.cancelled" }?.0["person"])
            #expect(try await database.lease(.webhook).deliveries.isEmpty)
        }
    }

    @Test("An event is deleted when its last receiver has accepted it")
    func done() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            try await database.writeEvents(1...2)
            let leased = try await database.lease(.webhook).deliveries
            _ = try await database.deliveries.finish([
                FinishedDelivery(id: leased[0].id, attempt: 1, decision: .accepted)
            ])
            #expect(try await database.count("core.event") == 1)
            try await database.setClock("2026-11-23T09:00:00Z")
            #expect(try await database.lease(.webhook).expired == 1)
            #expect(try await database.count("core.event") == 0)
        }
    }

    @Test("Attendance is stored even without receivers")
    func attendance() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [])
            let ada = try #require(claim.reminders.first { $0.device == device("ada") })
            let room = try #require(ada.roomId)
            let start = MonotonicTime.now()
            let now = start + .seconds(10)
            func event(
                _ kind: PresenceEvent.Kind, _ room: UUID, _ task: UUID?, _ peers: Int, _ age: Double
            ) -> PresenceEvent {
                PresenceEvent(
                    kind, room: room, claimedIdentity: task, peers: peers, at: start + .seconds(10 - age))
            }
            let writer = UUID()
            let first = [
                event(.joined, room, ada.taskId, 1, 10), event(.joined, room, UUID(), 2, 9),
                event(.left, room, ada.taskId, 1, 8), event(.joined, room, ada.taskId, 2, 7),
                // This room belongs to no match.
                event(.joined, UUID(), nil, 1, 6),
            ]
            for _ in 0..<2 {
                try await AttendanceStore(database: database.client).report(first, by: writer, number: 1, at: now)
            }
            try await AttendanceStore(database: database.client).report(
                [event(.left, room, ada.taskId, 1, 5)], by: writer, number: 2, at: now)
            let rows = try await database.run(
                """
                SELECT task_id, extract(epoch FROM core.clock() - joined_at) AS came,
                    extract(epoch FROM core.clock() - left_at) AS left_ago, visits, most_peers
                FROM core.attendance ORDER BY task_id
                """)
            #expect(rows.count == 2)
            #expect(try rows[0].optionalUUID("task_id") == ada.taskId)
            #expect(try rows[0].string("came").hasPrefix("10.0"))
            #expect(try rows[0].string("left_ago").hasPrefix("5.0"))
            #expect(try rows[0].integer("visits") == 2)
            #expect(try rows[0].integer("most_peers") == 2)
            #expect(try rows[1].optionalUUID("task_id") == nil)
            #expect(try rows[1].optionalString("left_ago") == nil)
            _ = try await database.erasures.erase(device("ada"))
            #expect(try await database.count("core.attendance") == 1)
        }
    }

    @Test("The people of a dead daemon leave, and its late report counts once")
    func deadDaemon() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [])
            let ada = try #require(claim.reminders.first { $0.device == device("ada") })
            let room = try #require(ada.roomId)
            let (dead, living) = (UUID(), UUID())
            let store = AttendanceStore(database: database.client)
            func beat(_ id: UUID, gone: [UUID] = []) async throws {
                let list = gone.map { "'\($0)'::uuid" }.joined(separator: ", ")
                try await database.run(
                    """
                    SELECT operations.beat('\(id)', 'h', '1', 1, 'none', ARRAY[\(list)]::uuid[],
                        ARRAY[\(gone.map { _ in "1" }.joined(separator: ", "))]::bigint[],
                        false, NULL, 0, 0)
                    """)
            }
            func report(_ kind: PresenceEvent.Kind, _ task: UUID?, by writer: UUID, _ number: Int) async throws {
                let event = PresenceEvent(kind, room: room, claimedIdentity: task, peers: 1, at: .now())
                try await store.report([event], by: writer, number: number, at: .now())
            }
            func present() async throws -> [Int] {
                try await database.run("SELECT present FROM core.attendance ORDER BY task_id")
                    .map { try $0.integer("present") }
            }
            for id in [dead, living] { try await beat(id) }
            try await report(.joined, ada.taskId, by: dead, 1)
            try await report(.joined, nil, by: dead, 2)
            try await report(.joined, ada.taskId, by: living, 1)
            #expect(try await present() == [2, 1])
            try await database.setClock("2026-11-22T08:59:20Z")
            try await beat(living, gone: [dead])
            #expect(try await database.count("core.daemon") == 1)
            for isOpen in [true, true, false] {
                let rows = try await database.run("SELECT matches.close_presence(1) AS is_open")
                #expect(try rows[0].boolean("is_open") == isOpen)
            }
            #expect(try await present() == [1, 0])
            let atLastBeat = try await database.count("core.attendance WHERE left_at = '2026-11-22T08:59:00Z'")
            #expect(atLastBeat == 1)
            // The daemon that was given up is alive and reports again.
            try await report(.left, ada.taskId, by: dead, 3)
            #expect(try await present() == [1, 0])
            try await beat(dead)
            try await report(.joined, ada.taskId, by: dead, 4)
            try await report(.left, ada.taskId, by: living, 2)
            #expect(try await present() == [1, 0])
            // Deleting the match also deletes its attendance.
            try await database.setClock("2026-12-22T08:00:00Z")
            try await database.deleteOld(retention: 1)
            #expect(try await database.count("core.attendance") == 0)
            #expect(try await database.count("core.presence") == 0)
        }
    }

    /// The events of who came and went, in their order: the type, the number of people, and who is there by the events alone.
    private func presenceEvents(_ database: ScheduleDatabase) async throws -> [(
        type: String, peers: Int, mirrored: Int
    )] {
        var mirrored = 0
        return try await database.run(
            "SELECT type, peers FROM core.event WHERE type IN ('room.joined', 'room.left') ORDER BY number"
        ).map { row in
            let type = try row.string("type")
            mirrored += type == "room.joined" ? 1 : -1
            return (type, try row.integer("peers"), mirrored)
        }
    }

    @Test("A room's events count the people on all daemons")
    func peers() async throws {
        try await ScheduleDatabase.with(now: Self.before, connections: 8) { database in
            let claim = try await database.claimMatch(for: [.webhook])
            let room = try #require(claim.reminders.compactMap(\.roomId).first)
            let store = AttendanceStore(database: database.client)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let daemon = UUID()
                        for number in 1...12 {
                            // Each daemon believes that its member is alone.
                            let event = PresenceEvent(
                                number % 3 == 0 ? .left : .joined, room: room, claimedIdentity: nil,
                                peers: number % 3 == 0 ? 0 : 1, at: .now())
                            try await store.report([event], by: daemon, number: number, at: .now())
                        }
                    }
                }
                try await group.waitForAll()
            }
            let two = [PresenceEvent.Kind.joined, .joined, .left].map {
                PresenceEvent($0, room: room, claimedIdentity: nil, peers: 9, at: .now())
            }
            try await store.report(two, by: UUID(), number: 1, at: .now())
            let events = try await presenceEvents(database)
            #expect(events.count == 99)
            #expect(events.allSatisfy { $0.peers == $0.mirrored })
        }
    }

    @Test("Each member of a dead daemon leaves by an event")
    func deadDaemonEvents() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [.webhook])
            let ada = try #require(claim.reminders.first { $0.device == device("ada") })
            let room = try #require(ada.roomId)
            let store = AttendanceStore(database: database.client)
            let (dead, living) = (UUID(), UUID())
            for id in [dead, living] {
                try await database.run(
                    "SELECT operations.beat('\(id)', 'h', '1', 1, 'none', '{}', '{}', false, NULL, 0, 0)")
            }
            func joined(_ task: UUID?, _ peers: Int) -> PresenceEvent {
                PresenceEvent(.joined, room: room, claimedIdentity: task, peers: peers, at: .now())
            }
            try await store.report(
                [joined(ada.taskId, 1), joined(ada.taskId, 2), joined(nil, 3)], by: dead, number: 1, at: .now())
            try await store.report([joined(nil, 4)], by: living, number: 1, at: .now())
            for _ in 0..<2 {
                try await database.run(
                    "UPDATE core.reporter SET must_revert = true, lost_at = core.clock() WHERE id = '\(dead)'"
                )
                while try await database.run("SELECT matches.close_presence(1) AS more")[0].boolean("more") {}
            }
            var events = try await presenceEvents(database)
            #expect(events.suffix(3).map(\.type) == ["room.left", "room.left", "room.left"])
            #expect(events.map(\.peers) == [1, 2, 3, 4, 3, 2, 1] && events.allSatisfy { $0.peers == $0.mirrored })
            let tasks = try await database.run(
                "SELECT FROM core.event WHERE type = 'room.left' AND task_ids = ARRAY['\(ada.taskId)'::uuid]")
            #expect(tasks.count == 2)
            #expect(try await database.run("SELECT FROM core.delivery").count >= 7)

            // One of them has left meanwhile.
            try await store.report(
                [PresenceEvent(.left, room: room, claimedIdentity: ada.taskId, peers: 0, at: .now())], by: dead,
                number: 2, at: .now())
            try await store.recount([[(Attendee(room: room, claimedIdentity: ada.taskId), 1)]], by: dead, number: 2)
            events = try await presenceEvents(database)
            #expect(events.map(\.peers) == [1, 2, 3, 4, 3, 2, 1, 2] && events.last?.type == "room.joined")
            #expect(events.allSatisfy { $0.peers == $0.mirrored })
        }
    }

    @Test("The end of a room lists the people who were there")
    func closed() async throws {
        try await ScheduleDatabase.with(now: Self.before) { database in
            let claim = try await database.claimMatch(for: [.webhook])
            let ada = try #require(claim.reminders.first { $0.device == device("ada") })
            let room = try #require(ada.roomId)
            try await AttendanceStore(database: database.client).report(
                [PresenceEvent(.joined, room: room, claimedIdentity: ada.taskId, peers: 1, at: .now())], by: UUID(),
                number: 1,
                at: .now())
            try await database.setClock("2026-11-22T10:00:02Z")
            let deliveries = try await database.lease(.webhook).deliveries
            let data = try deliveries.map { try TestJSON(parsing: Array($0.payload.utf8)) }
            let numbers = data.compactMap { $0["number"].int }
            let closed = try #require(deliveries.firstIndex { $0.event == "room.closed" })
            #expect(numbers.count == deliveries.count && numbers.max() == data[closed]["number"].int)
            #expect(data[closed]["came"] == [.string(ada.taskId.uuidString)])
            #expect(data[closed]["people"][ada.taskId.uuidString].string?.utf8.count == 32)
            #expect(deliveries[closed].happenedAt == deliveries[closed].asOf - 2)
        }
    }
}
