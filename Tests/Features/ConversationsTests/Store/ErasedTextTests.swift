import Domain
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations
@testable import Questions

/// When an erasure is answered, nobody can see the person's texts any more, even if many rows still have to be deleted.
@Suite struct ErasedTextTests {
    /// More rows than one erasure step deletes.
    private static let much = 600

    /// Erases d2, whose rows are too many for one step.
    private func erase(_ database: ScheduleDatabase) async throws {
        try await database.crowd(of: "d2", count: Self.much, after: "2026-11-22 12:00Z")
        #expect(try await database.erasures.erase(DeviceID(stored: "d2")).hasMore)
        #expect(try await database.count("task") == Self.much)
    }

    private func eraseAll(_ database: ScheduleDatabase) async throws {
        while try await database.erasures.eraseMore(limit: 500).hasMore {}
        #expect(try await database.count("erasure") == 0)
    }

    @Test("No message of an erased device is readable in its place, in the list, or on its way to a broker")
    func messages() async throws {
        try await ConversationWorld.with { world in
            let bridge = BridgeStore(database: world.database.client, daemon: UUID())
            let group = try await world.make(1, [2, 3]).0.id
            try await world.send(1, "first", .conversation(group))
            try await world.database.run(
                """
                INSERT INTO letsswitch.message (conversation_id, number, id, author_id, content, sent_at)
                SELECT '\(group)', 1 + n, gen_random_uuid(), own.id, 'Secret', letsswitch.clock()
                FROM letsswitch.user_of('d2') AS own, generate_series(1, \(Self.much)) AS n
                """)
            try await world.database.run("UPDATE letsswitch.conversation SET last_number = 1 + \(Self.much)")
            try await bridge.see()
            try await world.database.run(
                "SELECT letsswitch.write_bridge_message('\(group)', n) FROM generate_series(1, 1 + \(Self.much)) AS n")
            try await erase(world.database)
            #expect(try await world.database.count("message WHERE content = 'Secret'") == Self.much - 500)

            func check() async throws {
                var (offset, contents) = (0, Set<String>())
                while offset <= Self.much {
                    let page = try await world.page(offset < 300 ? 1 : nil, group, .after(offset))
                    offset = try #require(page.messages.last).offset
                    for message in page.messages where message.offset > 1 {
                        #expect(message.author.isEmpty)
                        contents.insert(message.content)
                    }
                }
                #expect(contents == [""])
                let listed = try #require(try await world.store.conversations(of: world.device(3)).conversations.first)
                #expect(listed.lastMessage?.content == "" && listed.lastOffset == 1 + Self.much)
                guard case .messages(let waiting) = try await bridge.take(limit: 1_000, lease: .seconds(10)).kind else {
                    throw ClientFailure.violation("held")
                }
                #expect(waiting.count == 1 + Self.much)
                #expect(waiting.compactMap(\.content?.message.content) == ["first"])
            }
            try await check()
            try await eraseAll(world.database)
            try await check()
            #expect(try await world.database.count("message WHERE content IS NOT NULL") == 1)
        }
    }

    @Test("No question of an erased device is shown, answered or reported, and viewers see it disappear")
    func questions() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let fixture = try await QuestionSessionFixture(database)
            let kept = try await fixture.ask("Why?", device: "bob")
            let ids = (0..<Self.much).map { _ in UUID() }
            try await database.run(
                """
                INSERT INTO letsswitch.question
                    (id, session_id, number, content, answered, answer, state, asked_from, device_id, created_at, version, changed)
                SELECT named.id, '\(fixture.session.id)', 1 + named.n, 'Secret?', true, 'Secret!', 'approved', gen_random_uuid(), 'd2',
                    letsswitch.clock(), 1 + named.n, 1 + named.n
                FROM unnest('{\(ids.map(\.uuidString).joined(separator: ","))}'::uuid[]) WITH ORDINALITY AS named (id, n)
                """)
            let through = 1 + Self.much
            try await database.run("UPDATE letsswitch.question_session SET version = \(through)")
            #expect(try await fixture.page().questions.count > 1)
            try await erase(database)
            #expect(try await fixture.page().questions.map(\.id) == [kept])
            #expect(try await fixture.page(all: false).questions.map(\.id) == [kept])
            for id in ids {
                let mark = ChangedQuestions.Mark(question: id, isVoted: true, wasAnswered: false)
                #expect(try await fixture.store.changes([mark]).0.changes == [.removed(id)])
            }
            let left = try await database.run("SELECT id FROM letsswitch.question WHERE content = 'Secret?'")
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

    @Test("An erased device's announcements and titles disappear at once, and others' and the session stay")
    func announcements() async throws {
        try await ScheduleDatabase.with(now: QuestionSessionFixture.now) { database in
            let (fixture, other) = (
                try await QuestionSessionFixture(database), try await QuestionSessionFixture(database)
            )
            try await database.run(
                "UPDATE letsswitch.question_session SET device_id = 'd2' WHERE id = '\(fixture.session.id)'")
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
            #expect(try await database.count("question_session WHERE title = 'Tea'") == 1)
        }
    }
}
