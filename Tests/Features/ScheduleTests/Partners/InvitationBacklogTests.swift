import Domain
import FoundationEssentials
import Glibc
import Observability
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Schedule

/// Many tasks whose invited guests haven't come.
@Suite struct InvitationBacklogTests {
    private static let nine = "2026-11-22T09:00:00Z"

    @Test("A backlog frees tasks before their lead first")
    func order() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            var tasks: [UUID] = []
            for start in [Self.nine, "2026-11-22T09:03:00Z", "2026-11-22T09:02:00Z"] {
                tasks.append(try #require(try await database.invite("ada", start).task).id)
            }
            try await database.setClock("2026-11-22 09:00:30Z")
            #expect(try await database.invitations.lapsed() == [tasks[2], tasks[1], tasks[0]])
            #expect(try await database.invitations.lapsed(limit: 1) == [tasks[2]])
            #expect(try await database.invitations.lapsed(limit: 1, but: [tasks[2]]) == [tasks[1]])
        }
    }

    @Test("Only expired invitations are read")
    func cost() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.crowd(of: "ada", count: 1000, after: Self.nine)
            try await database.run("UPDATE schedule.task SET invites_until = reminds_at - interval '5 minutes'")
            try await database.setClock("2026-11-22 08:54:03Z")
            #expect(try await database.invitations.lapsed().count == 3)
            let visits = try await database.visits("schedule.lapsed_invitations(100, '{}')")
            #expect(visits.allSatisfy { $0 < 50 }, "\(visits)")
        }
    }

    @Test(
        "A bounded number of lapsed invitations is read at once, in order",
        arguments: ["2026-11-22 08:40Z", "2026-11-22 12:00Z"])
    func backlog(now: String) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            // An autovacuum between the two statements would update the statistics of invitations.
            try await database.run("ALTER TABLE schedule.task SET (autovacuum_enabled = off)")
            try await database.crowd(of: "ada", count: 20_000, after: Self.nine)
            try await database.run("UPDATE schedule.task SET invites_until = '2026-11-22 08:30Z'")
            try await database.setClock(now)
            let nearest = try await database.run(
                """
                SELECT id FROM schedule.task ORDER BY reminds_at < core.clock(), reminds_at LIMIT 3
                """
            ).map { try $0.uuid("id") }
            #expect(try await database.invitations.lapsed(limit: 3) == nearest)
            let others = try await database.invitations.lapsed(limit: 2, but: nearest.prefix(1))
            #expect(others == Array(nearest.dropFirst()))
            for statistics in ["none", "new"] {
                if statistics == "new" { try await database.run("ANALYZE schedule.task") }
                let visits = try await database.visits("schedule.lapsed_invitations(100, '{}')")
                #expect(visits.allSatisfy { $0 < 5000 }, "statistics: \(statistics), \(visits)")
            }
        }
    }

    @Test("Invitations that can't be freed don't block the others")
    func failures() async throws {
        try await ScheduleDatabase.with(now: "2026-11-22 08:00Z") { database in
            try await database.crowd(of: "bad", count: 150, after: "2026-11-22T09:05:00Z")
            try await database.run("UPDATE schedule.task SET invites_until = '2026-11-22 08:30Z'")
            _ = try await database.invite("ada", "2026-11-22T09:10:00Z")
            _ = try await database.register("bob", "2026-11-22T09:10:00Z", "Maths")
            try await database.run(
                """
                CREATE FUNCTION letsswitch.test_fault() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'a fault of this one'; END $$
                """)
            try await database.run(
                """
                CREATE TRIGGER test_fault BEFORE UPDATE ON schedule.task
                FOR EACH ROW WHEN (OLD.device_id = 'bad') EXECUTE FUNCTION letsswitch.test_fault()
                """)
            // The broken tasks come first, and the other tasks are freed nevertheless.
            try await database.setClock("2026-11-22 09:04Z")
            let nowhere = open("/dev/null", O_WRONLY)
            defer { close(nowhere) }
            let worker = RematchWorker(
                store: database.rematches, invitations: database.invitations,
                log: Log(level: .error, format: nil, descriptor: nowhere)
            ) { _ in }
            let working = Task { await worker.run() }
            try await eventually("somebody is paired") {
                try await database.count("schedule.task WHERE partner_id IS NOT NULL") == 2
            }
            await worker.stop(within: .seconds(1))
            await working.value
            #expect(try await database.count("schedule.task WHERE invites_until IS NOT NULL") == 150)
        }
    }
}
