import Domain
import Features
import FoundationEssentials
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Conversations that a user has left are limited, and don't slow others down.
@Suite struct LeftConversationTests {
    /// Makes groups that user1 has left. Each was used a second before the previous one.
    private func leave(_ count: Int, _ world: ConversationWorld) async throws {
        try await world.database.run(
            """
            WITH made AS (
                INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at)
                SELECT gen_random_uuid(), 'group', '{}', core.clock(), core.clock() - n * interval '1 s',
                    core.clock()
                FROM generate_series(1, \(count)) AS n RETURNING id
            )
            INSERT INTO conversations.participant (conversation_id, user_id, left_number)
            SELECT made.id, own.id, 0 FROM made, conversations.user_of('d1') AS own
            """)
    }

    private func purge(_ world: ConversationWorld) async throws {
        while try await world.database.deleteOld(retention: 86_400, limit: 2) > 0 {}
    }

    @Test(
        "A list visits few rows, even with many left conversations"
    )
    func cost() async throws {
        try await ConversationWorld.with { world in
            let inside = try await world.make(1, [2, 3]).0.id
            try await leave(30_000, world)
            for call in ["positions('d1', 2000)", "list_conversations('d1', NULL, NULL, 101)"] {
                let visits = try await world.database.visits("conversations.\(call)")
                #expect(visits.allSatisfy { $0 < 20_000 }, "\(call): \(visits)")
            }
            #expect(try await world.store.positions(of: world.device(1)).offsets.first?.conversation == inside)
            #expect(try await world.list(1).first == inside)
        }
    }

    @Test("A user keeps its last thousand left groups")
    func kept() async throws {
        try await ConversationWorld.with { world in
            let pair = try await world.make(1, [2]).0.id
            _ = try await world.set(1, .leave, in: pair)
            try await leave(1_000, world)
            let oldest = try #require(
                try await world.database.run("SELECT id FROM conversations.conversation ORDER BY used_at LIMIT 1").first
            ).uuid("id")
            #expect(try await world.page(1, oldest).messages.isEmpty)
            let group = try await world.make(1, [2, 3]).0.id
            try await world.send(1, "before", .conversation(group))
            _ = try await world.set(1, .leave, in: group)
            #expect(try await world.database.count("conversations.participant WHERE left_number IS NOT NULL") == 1_001)
            #expect(try await code { _ = try await world.page(1, oldest) } == "no_such_conversation")
            #expect(try await world.page(1, group).messages.map(\.content) == ["before"])
            // The other participants keep the group, and a message to the pair brings it back to user1's list.
            #expect(try await world.list(2).contains(group))
            try await world.send(2, "Are you there?", .conversation(pair))
            #expect(try await world.list(1).contains(pair))
        }
    }

    @Test("A group that all participants left is deleted in steps")
    func everybody() async throws {
        try await ConversationWorld.with { world in
            let (group, kept) = (try await world.make(1, [2, 3]).0.id, try await world.make(1, [2, 4]).0.id)
            let pair = try await world.make(1, [2]).0.id
            for conversation in [group, kept, pair] {
                for number in 0..<5 { try await world.send(1, "\(number)", .conversation(conversation)) }
            }
            for user in [1, 2] {
                for conversation in [group, kept, pair] { _ = try await world.set(user, .leave, in: conversation) }
            }
            try await purge(world)
            #expect(try await world.page(1, group).messages.count == 5)
            #expect(try await world.set(3, .leave, in: group).lastOffset == 5)
            try await purge(world)
            #expect(try await code { _ = try await world.page(1, group) } == "no_such_conversation")
            #expect(try await world.database.count("conversations.message") == 10)
            #expect(try await world.database.count("conversations.participant WHERE conversation_id = '\(group)'") == 0)
            #expect(try await world.page(4, kept).messages.count == 5)
            #expect(try await world.page(2, pair).messages.count == 5)
        }
    }

    @Test("A group is deleted when its last participant is erased")
    func erased() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            try await world.send(1, "before", .conversation(group))
            for user in [1, 2] { _ = try await world.set(user, .leave, in: group) }
            var hasMore = try await world.database.erasures.erase(world.device(3))
            while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 500) }
            try await purge(world)
            for table in ["conversation", "participant", "message"] {
                #expect(try await world.database.count("conversations.\(table)") == 0, "\(table)")
            }
            #expect(try await world.database.count("conversations.chat_user") == 4)
        }
    }
}
