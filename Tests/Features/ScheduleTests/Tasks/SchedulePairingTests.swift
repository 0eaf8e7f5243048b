import Domain
import Features
import FoundationEssentials
import Postgres
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Reminders
@testable import Schedule

/// Many users at the same time, over many connections, with the real clock.
@Suite(.serialized) struct SchedulePairingTests {
    private static func tomorrow(_ minutes: Int = 0) -> Instant {
        let now = Int(Date().timeIntervalSince1970)
        return Instant(seconds: (now / 3600 + 24) * 3600 + minutes * 60)
    }

    @Test(
        "All devices that register for one slot at once are matched, except an odd one",
        arguments: [400, 401])
    func crowd(devices: Int) async throws {
        try await ScheduleDatabase.with(now: nil, connections: 25) { database in
            let start = Self.tomorrow().description
            let tasks = try await withThrowingTaskGroup(of: TaskResponse?.self) { group in
                for device in 0..<devices {
                    group.addTask { try await database.register("device \(device)", start).task }
                }
                return try await group.reduce(into: [TaskResponse]()) { if let task = $1 { $0.append(task) } }
            }
            #expect(tasks.count == devices)
            #expect(Set(tasks.map(\.id)).count == devices)
            #expect(
                try await database.run("SELECT DISTINCT room_id FROM schedule.task").count == devices - devices / 2)
            let single = try await database.run("SELECT count(*) AS n FROM schedule.task WHERE partner_id IS NULL")
            #expect(try single[0].integer("n") == devices % 2)
            try await database.checkPairs()
        }
    }

    @Test("A device that registers several times at once has one task")
    func retries() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 10) { database in
            let start = Self.tomorrow().description
            let outcomes = try await withThrowingTaskGroup(of: RegistrationOutcome.self) { group in
                for _ in 0..<50 { group.addTask { try await database.register("a", start) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0.isCreated } == 1)
            #expect(Set(outcomes.compactMap { $0.task?.id }).count == 1)
            #expect(try await database.count("schedule.task") == 1)
        }
    }

    @Test("No user has a partner who cancelled during the matching")
    func cancelAgainstPair() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 16) { database in
            for minute in 0..<300 {
                let start = Self.tomorrow(minute).description
                _ = try await database.register("a", start)
                async let pairing = database.register("b", start)
                async let cancelling = database.cancel("a", start)
                let (paired, cancelled) = try await (pairing.task?.isPaired, cancelling.code)
                #expect(cancelled == (paired == true ? "has_partner" : "cancelled"))
            }
            try await database.checkPairs()
        }
    }

    @Test("Erasing during other changes causes no deadlock")
    func eraseAgainstAll() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 16) { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for round in 0..<400 {
                    let device = ["a", "b", "c"][round % 3]
                    let start = Self.tomorrow(round / 3 % 5).description
                    group.addTask { _ = try await database.register(device, start) }
                    if round % 4 == 0 { group.addTask { _ = try await database.cancel(device, start) } }
                    if round % 10 == 0 {
                        group.addTask { _ = try await database.erasures.erase(DeviceID(stored: device)) }
                    }
                }
                try await group.waitForAll()
            }
            try await database.checkPairs()
        }
    }

    @Test("Concurrent claims take every due task once")
    func claims() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 16) { database in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for device in 0..<300 {
                    group.addTask { _ = try await database.register("d\(device)", "2026-11-22T09:00:00Z") }
                }
                try await group.waitForAll()
            }
            try await database.setClock("2026-11-22 08:59Z")
            let claims = try await withThrowingTaskGroup(of: ClaimedBatch?.self) { group in
                for _ in 0..<40 { group.addTask { try await database.reminders.claimDue(limit: 10) } }
                return try await group.reduce(into: [ClaimedBatch]()) { if let claim = $1 { $0.append(claim) } }
            }
            #expect(claims.count == 30)
            let reminders = claims.flatMap(\.reminders)
            #expect(reminders.count == 300 && Set(reminders.map(\.taskId)).count == 300)
            #expect(Set(claims.flatMap(\.rooms).map(\.id)).count == 150)
            #expect(try await database.reminders.openRooms().count == 150)
            // Claims are serialised: the numbers of batches and of their reminders are in the order of the commits.
            let byBatch = claims.sorted { $0.batch < $1.batch }.flatMap(\.reminders).map(\.seq)
            #expect(byBatch == byBatch.sorted())
        }
    }

    @Test("A task registered during the claim is reminded or refused")
    func registerAgainstClaim() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T08:00:00Z", lead: 60, connections: 16) { database in
            for round in 1...2 {
                // The test moves the clock to the lead while everybody registers.
                let start = try #require(Instant("2026-11-22T08:0\(2 * round):00Z"))
                let isOver = EventRecorder<Void>()
                let paired = try await withThrowingTaskGroup(of: Void.self) { group in
                    for worker in 0..<6 {
                        group.addTask {
                            var (number, left) = (0, 5)
                            while left > 0 {
                                number += 1
                                if !isOver.all.isEmpty { left -= 1 }
                                _ = try await database.register("\(start)/\(worker)/\(number)", start.description)
                            }
                        }
                    }
                    group.addTask {
                        for _ in 0..<50 { _ = try await database.reminders.claimDue(limit: 50) }
                        while isOver.all.isEmpty { _ = try await database.reminders.claimDue(limit: 50) }
                        for _ in 0..<50 { _ = try await database.reminders.claimDue(limit: 50) }
                    }
                    group.addTask {
                        try await eventually("registrations") {
                            try await database.count("schedule.task WHERE starts_at = '\(start)'") > 20
                        }
                        try await database.setClock("2026-11-22T08:0\(2 * round - 1):00.001Z")
                        isOver.append(())
                    }
                    try await group.waitForAll()
                    return try await database.run(
                        "SELECT count(*) AS n FROM schedule.task WHERE partner_id IS NOT NULL")
                }
                #expect(try paired[0].integer("n") > 0)
                while try await database.reminders.claimDue(limit: 1000) != nil {}
                let unreminded = try await database.run(
                    """
                    SELECT count(*) AS n FROM schedule.task
                    WHERE (SELECT count(*) FROM reminders.reminder WHERE reminder.task_id = task.id) <> 1
                        OR (SELECT partner_task IS NULL FROM reminders.claimed_reminder AS claimed
                            WHERE claimed.task_id = task.id) <> (partner_id IS NULL)
                    """)
                #expect(try unreminded[0].integer("n") == 0)
                let shut = try await database.run(
                    """
                    SELECT count(DISTINCT room_id) AS n FROM schedule.task WHERE partner_id IS NOT NULL
                        AND room_id NOT IN (SELECT room_id FROM reminders.open_rooms())
                    """)
                #expect(try shut[0].integer("n") == 0)
            }
            try await database.checkPairs()
        }
    }

    @Test("A cancelled task is never reminded, even if it is cancelled during the claim")
    func cancelAgainstClaim() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            for round in 0..<100 {
                let start = Self.tomorrow(round)
                _ = try await database.register("a", start.description)
                // The task becomes due in 3 ms, so it is cancelled and claimed at the same time.
                try await database.run(
                    """
                    WITH soon AS (UPDATE schedule.due SET reminds_at = clock_timestamp() + interval '3 ms' RETURNING *)
                    UPDATE schedule.task SET reminds_at = soon.reminds_at FROM soon WHERE task.id = soon.task_id
                    """)
                async let cancelling = database.cancel("a", start.description)
                async let claiming: Void = {
                    for _ in 0..<4 { _ = try await database.reminders.claimDue(limit: 5) }
                }()
                let (code, _) = try await (cancelling.code, claiming)
                while try await database.reminders.claimDue(limit: 5) != nil {}
                let reminded = try await database.reminders.backlog(of: DeviceID(stored: "a"), after: nil).unseen
                    .contains { $0.startsAt == start }
                if code == "cancelled" { #expect(!reminded) }
                #expect(code == "cancelled" || code == "registration_closed")
            }
        }
    }

    @Test("A reminder has the answered title, even if the title changes during the claim")
    func retitleAgainstClaim() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            for round in 0..<100 {
                let start = Self.tomorrow(round)
                _ = try await database.register("a", start.description, "One")
                try await database.run(
                    """
                    WITH soon AS (UPDATE schedule.due SET reminds_at = clock_timestamp() + interval '3 ms' RETURNING *)
                    UPDATE schedule.task SET reminds_at = soon.reminds_at FROM soon WHERE task.id = soon.task_id
                    """)
                async let changing = database.register("a", start.description, "Two")
                async let claiming: Void = {
                    for _ in 0..<4 { _ = try await database.reminders.claimDue(limit: 5) }
                }()
                let (changed, _) = try await (changing, claiming)
                var reminder: Reminder?
                for _ in 0..<100 where reminder == nil {
                    _ = try await database.reminders.claimDue(limit: 5)
                    reminder = try await database.reminders.backlog(of: DeviceID(stored: "a"), after: nil).unseen
                        .first { $0.startsAt == start }
                }
                let title = changed.task?.title ?? "One"
                #expect(reminder?.payload.contains(#""title":"\#(title)""#) == true)
                #expect(changed.task != nil || changed.refusal?.code == "registration_closed")
            }
        }
    }

    @Test("Concurrent claims, deliveries, expiries, erasures and purges cause no deadlock")
    func outbox() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z", connections: 16) { database in
            for device in 0..<200 { _ = try await database.register("d\(device)", "2026-11-22T09:00:00Z") }
            for device in 0..<100 { _ = try await database.register("d\(device)", "2026-11-22T09:00:03Z") }
            try await database.setClock("2026-11-22 08:59:03Z")
            let ids = try await withThrowingTaskGroup(of: [UUID].self) { group in
                for _ in 0..<15 {
                    group.addTask { try await database.reminders.claimDue(limit: 20)?.reminders.map(\.id) ?? [] }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(ids.count == 300)
            try await database.setClock("2026-11-22 10:00:02.5Z")
            let (delivered, missed) = try await withThrowingTaskGroup(of: (delivered: [UUID], missed: [UUID]).self) {
                group in
                for _ in 0..<10 {
                    let some = Array(ids.shuffled().prefix(60))
                    group.addTask { (try await database.reminders.markDelivered(some), []) }
                    group.addTask { ([], try await database.reminders.expire().map(\.id)) }
                    group.addTask {
                        _ = try await database.erasures.erase(DeviceID(stored: "d\(Int.random(in: 0..<200))"))
                        return ([], [])
                    }
                    group.addTask {
                        try await database.deleteOld(retention: 3601, limit: 5)
                        return ([], [])
                    }
                }
                return try await group.reduce(into: (delivered: [UUID](), missed: [UUID]())) {
                    $0.delivered += $1.delivered
                    $0.missed += $1.missed
                }
            }
            // Each reminder is either delivered or missed.
            #expect(Set(delivered + missed).count == delivered.count + missed.count)
            try await database.checkStages()
            while try await !database.reminders.expire().isEmpty {}
            #expect(try await database.reminders.nextDue().due == nil)
            let pending = try await database.run(
                "SELECT count(*) AS n FROM reminders.reminder WHERE state = 'pending'")
            #expect(try pending[0].integer("n") == 0)
        }
    }
}
