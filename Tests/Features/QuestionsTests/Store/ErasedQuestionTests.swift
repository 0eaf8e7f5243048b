import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Questions

/// When an erasure is answered, nobody can see the person's questions any more, even if many rows still have to be deleted.
@Suite struct ErasedQuestionTests {
    /// More rows than one erasure step deletes.
    private static let much = 600

    /// Erases d2, whose rows are too many for one step.
    private func erase(_ database: ScheduleDatabase) async throws {
        try await database.crowd(of: "d2", count: Self.much, after: "2026-11-22 12:00Z")
        #expect(try await database.erasures.erase(DeviceID(stored: "d2")))
        #expect(try await database.count("schedule.task") > 0)
    }

    private func eraseAll(_ database: ScheduleDatabase) async throws {
        while try await database.erasures.eraseMore(limit: 500) {}
        #expect(try await database.count("core.erasure") == 0)
    }

    @Test("No question of an erased device is shown or reported")
    func questions() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let kept = try await fixture.ask("Why?", device: "bob")
            let ids = (0..<Self.much).map { _ in UUID() }
            try await database.run(
                """
                INSERT INTO questions.question
                    (id, session_id, number, content, answered, answer, state, asked_from, device_id, created_at, version, changed)
                SELECT named.id, '\(fixture.session.id)', 1 + named.n, 'Secret?', true, 'Secret!', 'approved', gen_random_uuid(), 'd2',
                    core.clock(), 1 + named.n, 1 + named.n
                FROM unnest('{\(ids.map(\.uuidString).joined(separator: ","))}'::uuid[]) WITH ORDINALITY AS named (id, n)
                """)
            let through = 1 + Self.much
            try await database.run("UPDATE questions.question_session SET version = \(through)")
            #expect(try await fixture.page().questions.count > 1)
            try await erase(database)
            #expect(try await fixture.page().questions.map(\.id) == [kept])
            #expect(try await fixture.page(all: false).questions.map(\.id) == [kept])
            for id in ids {
                let mark = ChangedQuestions.Mark(question: id, isVoted: true, wasAnswered: false)
                #expect(try await fixture.store.changes([mark]).0.changes == [.removed(id)])
            }
            let left = try await database.run("SELECT id FROM questions.question WHERE content = 'Secret?'")
            #expect(left.count == Self.much - 500)
            let last = try #require(try left.first?.uuid("id"))
            #expect(try await code { _ = try await fixture.moderate(last, .approve) } == "no_such_question")
            // Subscribers get the questions deleted so far, and the rest later.
            #expect(try await fixture.page().session.version == through + 500)
            try await eraseAll(database)
            #expect(try await fixture.page().session.version == through + Self.much)
            #expect(try await fixture.page().questions.map(\.id) == [kept])
        }
    }

    @Test("An erased device's announcements and titles disappear at once")
    func announcements() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let (fixture, other) = (
                try await QuestionSessionFixture(database), try await QuestionSessionFixture(database)
            )
            try await database.run(
                "UPDATE questions.question_session SET device_id = 'd2' WHERE id = '\(fixture.session.id)'")
            for fixture in [fixture, other] { try await fixture.announce("Secret!") }
            try await erase(database)
            #expect(try await fixture.store.announcements(in: fixture.session.id, after: 0).announcements.isEmpty)
            #expect(try await other.store.announcements(in: other.session.id, after: 0).announcements.count == 1)
            // A subscriber that knows the session up to the announcement gets the change.
            let changed = try await fixture.changed(after: 1)
            #expect(changed.through == 2 && changed.marks.isEmpty)
            let closed = try await fixture.store.set(fixture.session.id, to: .closed, keys: fixture.keys)
            for session in [changed.session, try await fixture.page().session, closed] {
                #expect(session.title == QuestionSession.open.title)
            }
            #expect(try await other.page().session.title == "Tea")
            #expect(try await database.count("questions.question_session WHERE title = 'Tea'") == 1)
        }
    }
}
