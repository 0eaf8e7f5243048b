import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// When an erasure is answered, nobody can see the person's messages any more, even if many rows still have to be deleted.
@Suite struct ErasedMessageTests {
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

    @Test("No message of an erased device is readable anywhere")
    func messages() async throws {
        try await ConversationWorld.with { world in
            let bridge = BridgeStore(database: world.database.client, daemon: UUID())
            let group = try await world.make(1, [2, 3]).0.id
            try await world.send(1, "first", .conversation(group))
            try await world.database.run(
                """
                INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
                SELECT '\(group)', 1 + n, gen_random_uuid(), own.id, 'Secret', core.clock()
                FROM conversations.user_of('d2') AS own, generate_series(1, \(Self.much)) AS n
                """)
            try await world.database.run("UPDATE conversations.conversation SET last_number = 1 + \(Self.much)")
            try await bridge.see()
            try await world.database.run(
                "SELECT conversations.write_bridge_message('\(group)', n) FROM generate_series(1, 1 + \(Self.much)) AS n"
            )
            try await erase(world.database)
            #expect(try await world.database.count("conversations.message WHERE content = 'Secret'") == Self.much - 500)

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
            #expect(try await world.database.count("conversations.message WHERE content IS NOT NULL") == 1)
        }
    }
}
