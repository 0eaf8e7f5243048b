import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Questions

/// The limits and the retention of questions.
@Suite struct QuestionLifeTests {
    @Test(
        "Questions and sessions have limits")
    func limits() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            var settings = QuestionSettings()
            (settings.sessionsPerDevice, settings.questionsPerSession) = (2, 8)
            let fixture = try await QuestionSessionFixture(database, settings: settings)
            let asker = UUID()
            for number in 0..<6 { _ = try await fixture.ask("\(number)", asker) }
            #expect(try await code { _ = try await fixture.ask("7", asker) } == "too_many_questions")
            _ = try await fixture.ask("7", UUID())
            try await database.setClock("2026-11-22T10:01:01Z")
            _ = try await fixture.ask("8", asker)
            #expect(try await code { _ = try await fixture.ask("9", UUID()) } == "session_full")
            _ = try await QuestionSessionFixture(database, settings: settings)
            #expect(
                try await code { _ = try await QuestionSessionFixture(database, settings: settings) }
                    == "too_many_sessions")

            var limits = StorageLimits()
            (limits.sessions, limits.questions, limits.votes) = (1, 1, 1)
            try await database.run("UPDATE questions.question_session SET device_id = 'other'")
            let full = try await QuestionSessionFixture(database, storage: limits)
            let id = try await full.ask("Why?")
            #expect(try await code { _ = try await full.ask("How?") } == "storage_full")
            _ = try await full.vote(id, UUID())
            #expect(try await full.vote(id, UUID()) == .refused(.storageFull(.votes)))
            let key = try PresenterKey.random()
            let request = try SessionRequest(device: DeviceID("ada"), title: "Tea", isModerated: false)
            #expect(try await code { _ = try await full.store.makeSession(request, key: key) } == "storage_full")
        }
    }

    @Test("A dismissed or erased question frees its place")
    func room() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            var settings = QuestionSettings()
            settings.questionsPerSession = 2
            let fixture = try await QuestionSessionFixture(database, settings: settings)
            func isFull() async throws -> Bool {
                let counted = try await database.client.query(
                    .init(name: "", sql: "SELECT question_count FROM questions.question_session"), [], timeout: nil)
                return try counted[0].integer("question_count") >= 2
            }
            let (one, two) = (try await fixture.ask("1"), try await fixture.ask("2", device: "ada"))
            #expect(try await code { _ = try await fixture.ask("3") } == "session_full")
            for _ in 0..<2 { _ = try await fixture.moderate(one, .dismiss) }
            let three = try await fixture.ask("3")
            #expect(try await code { _ = try await fixture.ask("4") } == "session_full")
            // The presenter may take it back all the same.
            for action in [.reopen, .dismiss, .approve, .dismiss] as [QuestionAction] {
                _ = try await fixture.moderate(one, action)
            }
            #expect(try await isFull())
            _ = try await fixture.moderate(three, .answer)
            #expect(try await isFull())
            // Of these two, one was dismissed before.
            _ = try await fixture.moderate(two, .dismiss)
            _ = try await fixture.ask("4", device: "ada")
            #expect(try await isFull())
            _ = try await database.erasures.erase(DeviceID("ada"))
            _ = try await fixture.ask("5")
            #expect(try await code { _ = try await fixture.ask("6") } == "session_full")
            // Three of the five count, and all are gone.
            try await database.setClock("2027-11-22T10:00:00Z")
            try await database.run("UPDATE questions.question_session SET used_at = core.clock()")
            let purge = PostgresStatement(name: "", sql: "SELECT questions.delete_old(60, 100) AS count")
            _ = try await database.client.query(purge, [], timeout: nil)
            let left = try await database.client.query(
                .init(
                    name: "",
                    sql: "SELECT coalesce(sum(question_count), 0)::int AS count FROM questions.question_session"),
                [], timeout: nil)
            #expect(try left[0].integer("count") == 0)
        }
    }

    @Test("Simultaneous requests don't exceed a device's limit of sessions")
    func sessionsAtOnce() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            var settings = QuestionSettings()
            settings.sessionsPerDevice = 5
            try await ConcurrentClients.with(database) { concurrent in
                try await concurrent.holdingInserts(into: "questions.question_session") { [settings] in
                    let codes = try await concurrent.count(32) { _, client in
                        _ = try await QuestionStore(database: client, settings: settings, storage: StorageQuota())
                            .makeSession(
                                SessionRequest(device: DeviceID("speaker"), title: "Tea", isModerated: false),
                                key: PresenterKey.random())
                        return true
                    }
                    #expect(codes == ["new": 5, "too_many_sessions": 27])
                }
            }
        }
    }

    @Test("An erased device leaves no text in sessions")
    func erasure() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let other = try await QuestionSessionFixture(database)
            let id = try await fixture.ask("Secret?", device: "ada")
            _ = try await fixture.moderate(id, .answer, answer: "Secret!")
            let kept = try await fixture.ask("Why?", device: "bob")
            _ = try await other.ask("Secret?", device: "ada")
            let through = try await fixture.page().session.version
            #expect(try await database.erasures.erase(DeviceID("ada")) == false)
            #expect(try await fixture.page().questions.map(\.id) == [kept])
            #expect(try await other.page().questions.isEmpty)
            #expect(try await fixture.changes(after: through).changes == [.removed(id)])
            #expect(
                try await code {
                    _ = try await fixture.store.moderate(id, .approve, keys: fixture.keys, opensAll: true)
                }
                    == "no_such_question")
            let left = try await database.run(
                "SELECT count(*) AS n FROM questions.question WHERE content LIKE 'Secret%' OR answer LIKE 'Secret%' OR device_id = 'ada'"
            )
            #expect(try left[0].integer("n") == 0)
            _ = try await database.erasures.erase(DeviceID("speaker"))
            #expect(
                try await database.run("SELECT FROM questions.question_session WHERE device_id IS NOT NULL").isEmpty)
        }
    }

    @Test("A device that connected before its erasure leaves no text")
    func askedAfterErasure() async throws {
        try await ScheduleDatabase.with(now: nil, connections: 8) { database in
            let fixtures = try await [
                QuestionSessionFixture(database), QuestionSessionFixture(database), QuestionSessionFixture(database),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        if number == 20 {
                            _ = try await database.erasures.erase(DeviceID("ada"))
                        } else {
                            _ = try? await fixtures[number % 3].ask("Secret", device: "ada", present: .seconds(60))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(
                try await code { _ = try await fixtures[0].ask("Secret", device: "ada", present: .seconds(60)) }
                    == "device_erased")
            #expect(
                try await database.run("SELECT FROM questions.question WHERE content IS NOT NULL").isEmpty)
            _ = try await fixtures[0].ask("Hello?", device: "ada")
            _ = try await fixtures[0].ask("Hello?", device: "bob", present: .seconds(60))
            try await database.run("UPDATE core.erased SET erased_at = erased_at - interval '11 minutes'")
            try await database.deleteOld(retention: 86_400)
            #expect(try await database.count("core.erased") == 0)
        }
    }

    @Test("After the retention, questions and unused sessions are deleted")
    func purge() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let old = try await QuestionSessionFixture(database)
            let id = try await old.ask("Why?")
            for _ in 0..<5 { _ = try await old.vote(id, UUID()) }
            _ = try await old.store.announce(
                AnnouncementRequest(content: "Tea!", recipients: .all), in: old.session.id, keys: old.keys)
            try await database.setClock("2026-11-25T10:00:00Z")
            let new = try await QuestionSessionFixture(database)
            _ = try await new.ask("How?")
            var rounds = 0
            while try await database.deleteOld(retention: 86_400, limit: 2) > 0, rounds < 20 { rounds += 1 }
            #expect(try await old.store.page(of: old.session.id, all: true) == nil)
            #expect(try await new.page().questions.count == 1)
            for (table, count) in [("question", 1), ("question_vote", 0), ("announcement", 0), ("question_session", 1)]
            {
                #expect(try await database.count("questions.\(table)") == count, "\(table)")
            }
        }
    }
}
