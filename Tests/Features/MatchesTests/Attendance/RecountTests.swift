import Basics
import Domain
import FoundationEssentials
import Observability
import Postgres
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Matches
@testable import Schedule

/// The members of a daemon that is alive although other daemons have given it up.
@Suite struct RecountTests {
    /// The people in a daemon's rooms.
    private struct Crowd {
        private(set) var present: [Attendee: Int] = [:]
        private var rollCall: UInt32 = 0

        /// A user joins or leaves.
        mutating func event(_ kind: PresenceEvent.Kind, _ task: TaskResponse, _ identity: UUID?) -> PresenceEvent {
            present[Attendee(room: task.socketId, claimedIdentity: identity), default: 0] += kind == .joined ? 1 : -1
            return PresenceEvent(
                kind, room: task.socketId, claimedIdentity: identity, peers: 1, at: .now(), rollCall: rollCall)
        }

        mutating func callRoll(_ number: UInt32) -> [Attendee: Int] {
            rollCall = number
            return present
        }

        mutating func close(_ task: TaskResponse) {
            present = present.filter { $0.key.room != task.socketId }
        }

        /// The rooms in the form of a roll call.
        var rooms: [[(attendee: Attendee, connections: Int)]] {
            var call = RollCall(number: 1)
            call.add(present)
            return call.rooms
        }
    }

    /// Ada and Bob with an open room, and a daemon that is alive.
    private static func withPair(
        _ body: (ScheduleDatabase, TaskResponse, TaskResponse, _ daemon: UUID) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            let (ada, bob) = try await database.remindedPair("ada", "bob")
            let daemon = UUID()
            try await beat(daemon, in: database)
            try await body(database, ada, bob, daemon)
        }
    }

    private static func beat(_ daemon: UUID, in database: ScheduleDatabase) async throws {
        try await database.run(
            "SELECT operations.beat('\(daemon)', 'h', '1', 1, 'none', '{}', '{}', false, NULL, 0, 0)")
    }

    /// Marks the daemon as dead, and removes its members one at a time, at most `steps` of them.
    private static func giveUp(_ daemon: UUID, in database: ScheduleDatabase, taking steps: Int = .max) async throws {
        try await database.run(
            "UPDATE core.reporter SET must_revert = true, lost_at = core.clock() WHERE id = '\(daemon)'")
        var left = steps
        while left > 0, try await database.run("SELECT matches.close_presence(1) AS more")[0].boolean("more") {
            left -= 1
        }
    }

    private static func writer(
        _ database: ScheduleDatabase, _ daemon: UUID, written: @escaping @Sendable () -> Void = {}
    ) -> AttendanceWriter {
        AttendanceWriter(
            store: AttendanceStore(database: database.client), by: daemon, log: Log(level: .error, format: nil),
            written: written)
    }

    /// The transactions that wrote the attendance rows.
    private static func versions(_ database: ScheduleDatabase) async throws -> [String] {
        try await database.run("SELECT xmin::text AS text FROM core.presence ORDER BY 1").map {
            try $0.string("text")
        }
    }

    /// The attendance, by task name, with each user's visits.
    private static func attendance(_ database: ScheduleDatabase) async throws -> [String] {
        try await database.run(
            """
            SELECT coalesce(task.device_id, 'unnamed') || ' ' || attendance.present || ' ' || attendance.visits AS text
            FROM core.attendance LEFT JOIN schedule.task ON task.id = attendance.task_id ORDER BY 1
            """
        ).map { try $0.string("text") }
    }

    @Test("A daemon that ends before storing departures is handled like a dead one")
    func earlyEnd() async throws {
        try await Self.withPair { database, ada, _, daemon in
            let store = AttendanceStore(database: database.client)
            var crowd = Crowd()
            func report(_ kind: PresenceEvent.Kind, number: Int) async throws {
                try await store.report([crowd.event(kind, ada, ada.id)], by: daemon, number: number, at: .now())
            }
            try await report(.joined, number: 1)
            try await database.run("SELECT operations.stop_daemon('\(daemon)')")
            #expect(try await database.count("core.daemon") == 1)
            try await report(.left, number: 2)
            try await database.run("SELECT operations.stop_daemon('\(daemon)')")
            #expect(try await database.count("core.daemon") == 0)
        }
    }

    @Test("A daemon that ends after its rooms have closed is removed at once")
    func endAfterRooms() async throws {
        try await Self.withPair { database, ada, _, daemon in
            var crowd = Crowd()
            try await AttendanceStore(database: database.client).report(
                [crowd.event(.joined, ada, ada.id)], by: daemon, number: 1, at: .now())
            try await database.setClock("2026-11-22 10:00:01Z")
            try await database.run("SELECT operations.stop_daemon('\(daemon)')")
            #expect(try await database.count("core.daemon") == 0)
            #expect(try await Self.attendance(database) == ["ada 1 1"])
        }
    }

    @Test("A recount restores the people who are present, each once")
    func recount() async throws {
        try await Self.withPair { database, ada, bob, daemon in
            let batches = Locked(0)
            let writer = Self.writer(database, daemon) { batches.withLock { $0 += 1 } }
            var crowd = Crowd()
            await writer.add([
                crowd.event(.joined, ada, ada.id), crowd.event(.joined, ada, ada.id), crowd.event(.joined, bob, bob.id),
                crowd.event(.joined, ada, nil),
            ])
            try await eventually("all are there") {
                try await Self.attendance(database) == ["ada 2 2", "bob 1 1", "unnamed 1 1"]
            }
            // Nobody is counted twice.
            await writer.reportAgain { crowd.callRoll($0) }
            try await eventually("who came is written, and the roll call") { batches.withLock { $0 } == 2 }
            await writer.add([crowd.event(.left, bob, bob.id)])
            try await eventually("one has left") {
                try await Self.attendance(database) == ["ada 2 2", "bob 0 1", "unnamed 1 1"]
            }
            // Either all members were removed, or only one.
            for steps in [Int.max, 1] {
                try await Self.giveUp(daemon, in: database, taking: steps)
                let taken = try await Self.attendance(database)
                #expect(taken == ["ada 0 2", "bob 0 1", "unnamed 0 1"] || steps == 1)
                #expect(taken != ["ada 2 2", "bob 0 1", "unnamed 1 1"])
                await writer.reportAgain { crowd.callRoll($0) }
                try await eventually("they are there again") {
                    try await Self.attendance(database) == ["ada 2 2", "bob 0 1", "unnamed 1 1"]
                }
                #expect(try await database.count("core.reporter WHERE must_revert") == 0)
            }
            await writer.add([crowd.event(.left, ada, ada.id), crowd.event(.left, ada, nil)])
            try await eventually("who leaves leaves") {
                try await Self.attendance(database) == ["ada 1 2", "bob 0 1", "unnamed 0 1"]
            }
            #expect(try await database.count("core.presence") == 1)
            await writer.finish()
        }
    }

    @Test("A recount ignores members of a closed room")
    func closedRoom() async throws {
        try await Self.withPair { database, ada, bob, daemon in
            let writer = Self.writer(database, daemon)
            var crowd = Crowd()
            await writer.add([crowd.event(.joined, ada, ada.id), crowd.event(.joined, bob, bob.id)])
            crowd.close(ada)
            try await eventually("both were there to the end") {
                try await Self.attendance(database) == ["ada 1 1", "bob 1 1"]
            }
            try await Self.giveUp(daemon, in: database)
            await writer.reportAgain { crowd.callRoll($0) }
            await writer.finish()
            #expect(try await Self.attendance(database) == ["ada 0 1", "bob 0 1"])
        }
    }

    @Test("A late or known recount changes nothing")
    func late() async throws {
        try await Self.withPair { database, ada, bob, daemon in
            let store = AttendanceStore(database: database.client)
            var crowd = Crowd()
            let joined = [crowd.event(.joined, ada, ada.id), crowd.event(.joined, bob, bob.id)]
            try await store.report(joined, by: daemon, number: 1, at: .now())
            let before = crowd.rooms
            let versions = try await Self.versions(database)
            try await store.recount(before, by: daemon, number: 1)
            #expect(try await Self.versions(database) == versions)

            try await store.report([crowd.event(.left, ada, ada.id)], by: daemon, number: 2, at: .now())
            try await store.recount(before, by: daemon, number: 1)
            #expect(try await Self.attendance(database) == ["ada 0 1", "bob 1 1"])
            // A late recount is also ignored after a recount that came without a report.
            try await Self.giveUp(daemon, in: database)
            try await store.recount(crowd.rooms, by: daemon, number: 3)
            try await store.recount(before, by: daemon, number: 2)
            #expect(try await Self.attendance(database) == ["ada 0 1", "bob 1 1"])
        }
    }

    @Test("A daemon without a row writes nothing until its next heartbeat")
    func withoutRow() async throws {
        try await Self.withPair { database, ada, _, daemon in
            let store = AttendanceStore(database: database.client)
            var crowd = Crowd()
            try await store.report([crowd.event(.joined, ada, ada.id)], by: daemon, number: 1, at: .now())
            try await database.run("DELETE FROM core.daemon")
            try await Self.giveUp(daemon, in: database, taking: 1)
            #expect(try await Self.attendance(database) == ["ada 0 1"])
            try await store.recount(crowd.rooms, by: daemon, number: 2)
            #expect(try await Self.attendance(database) == ["ada 0 1"])
            #expect(try await database.count("core.reporter WHERE must_revert") == 1)

            try await Self.beat(daemon, in: database)
            try await store.recount(crowd.rooms, by: daemon, number: 2)
            #expect(try await Self.attendance(database) == ["ada 1 1"])
            #expect(try await database.count("core.reporter WHERE must_revert") == 0)
        }
    }

    /// A daemon's writes, one batch at a time.
    private struct Batches {
        let reports: AttendanceReports
        private var queue = BatchQueue<AttendanceWriter.Entry>(BatchLimits(itemsPerBatch: 2, waitingItems: 10))

        init(_ database: ScheduleDatabase, _ daemon: UUID) {
            reports = AttendanceReports(
                store: AttendanceStore(database: database.client), log: Log(level: .error, format: nil), written: {},
                id: daemon)
        }

        mutating func write(_ entries: AttendanceWriter.Entry...) async throws {
            let isTaken = queue.add(entries)
            #expect(isTaken)
            guard case .write(let batch) = queue.next() else {
                Issue.record("nothing waits")
                return
            }
            let outcome = await reports.write(batch)
            #expect(outcome.error == nil)
            _ = queue.wrote(outcome)
        }
    }

    @Test("A failed recount is repeated with the next report")
    func failing() async throws {
        try await Self.withPair { database, ada, bob, daemon in
            var batches = Batches(database, daemon)
            var crowd = Crowd()
            try await batches.write(.event(crowd.event(.joined, ada, ada.id)))
            try await Self.giveUp(daemon, in: database)
            let number = await batches.reports.beginRollCall()
            await batches.reports.add(crowd.callRoll(number), to: number)
            try await database.run("ALTER FUNCTION matches.recount_peers RENAME TO hidden")
            try await batches.write(.rollCall(number), .event(crowd.event(.joined, bob, bob.id)))
            #expect(try await Self.attendance(database) == ["ada 0 1", "bob 1 1"])
            try await database.run("ALTER FUNCTION matches.hidden RENAME TO recount_peers")
            try await batches.write(.event(crowd.event(.left, bob, bob.id)))
            #expect(try await Self.attendance(database) == ["ada 1 1", "bob 0 1"])
            // No roll call has run since, so a user removed again stays removed.
            try await Self.giveUp(daemon, in: database)
            try await batches.write(.event(crowd.event(.joined, bob, bob.id)))
            #expect(try await Self.attendance(database) == ["ada 0 1", "bob 1 2"])
        }
    }

    @Test("A recount whose mark was dropped is completed by the next report")
    func dropped() async throws {
        try await Self.withPair { database, ada, bob, daemon in
            var batches = Batches(database, daemon)
            var crowd = Crowd()
            // This event is dropped and never reaches the database.
            let lost = crowd.event(.joined, ada, ada.id)
            let number = await batches.reports.beginRollCall()
            await batches.reports.add(crowd.callRoll(number), to: number)
            await batches.reports.dropped([.event(lost), .rollCall(number)], nil)
            try await batches.write(.event(crowd.event(.joined, bob, bob.id)))
            #expect(try await Self.attendance(database) == ["ada 1 1", "bob 1 1"])
        }
    }
}
