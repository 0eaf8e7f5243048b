import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Reactions in the database.
@Suite struct ReactionStoreTests {
    /// A conversation of user1 and others, with one message of user1.
    private struct Scene {
        let world: ConversationWorld
        let conversation: UUID
        let message: UUID

        init(_ world: ConversationWorld, with others: [Int] = [2, 3]) async throws {
            self.world = world
            conversation = try await world.make(1, others).0.id
            message = try #require(
                try await world.send(1, "Tea?", .conversation(conversation)).messages.first
            ).id
        }

        @discardableResult
        func react(
            _ user: Int, _ emoji: String, _ action: ReactionRequest.Action = .add, to message: UUID? = nil
        ) async throws -> ConversationStore.Reacted {
            try await world.store.react(
                ReactionRequest(
                    conversation: conversation, message: message ?? self.message, emoji: Emoji(stored: emoji),
                    action: action), by: world.device(user))
        }

        /// The reactions in the first page, as text.
        func shown(to user: Int = 1) async throws -> [String] {
            try await world.page(user, conversation).messages.flatMap(\.reactions)
                .map { "\($0.emoji) \($0.count) \($0.users.joined(separator: ","))" }
        }
    }

    /// Emoji that are all different.
    private static let many = (0..<30).map { String(Unicode.Scalar(0x1F400 + UInt32($0)) ?? "x") }

    @Test("Each reaction is added and removed once")
    func adding() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            #expect(try await scene.shown().isEmpty)
            let first = try await scene.react(3, "🎉")
            #expect(first.isNew && first.message.id == scene.message && first.message.content == "Tea?")
            #expect(first.message.reactions == [Reaction(emoji: "🎉", count: 1, users: ["user3"])])
            #expect(try await !scene.react(3, "🎉").isNew)
            try await world.database.setClock("2026-11-22T10:00:01Z")
            try await scene.react(1, "👍")
            try await world.database.setClock("2026-11-22T10:00:02Z")
            try await scene.react(2, "🎉")
            #expect(try await scene.shown() == ["🎉 2 user3,user2", "👍 1 user1"])
            #expect(try await scene.react(3, "🎉", .remove).isNew)
            #expect(try await !scene.react(3, "🎉", .remove).isNew)
            #expect(Set(try await scene.shown(to: 3)) == ["👍 1 user1", "🎉 1 user2"])
            // The server publishes new messages without reactions.
            #expect(try await world.page(nil, scene.conversation).messages.first?.reactions == [])
        }
    }

    @Test("Only a participant can react to an existing message")
    func refusals() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            let elsewhere = try await world.send(1, "x", ConversationWorld.names([4])).messages[0].id
            #expect(try await code { try await scene.react(4, "👍") } == "no_such_conversation")
            #expect(try await code { try await scene.react(9, "👍") } == "name_required")
            #expect(try await code { try await scene.react(2, "👍", to: UUID()) } == "no_such_message")
            #expect(try await code { try await scene.react(1, "👍", to: elsewhere) } == "no_such_message")
            try await scene.react(2, "👍")
            _ = try await world.set(2, .leave, in: scene.conversation)
            #expect(try await code { try await scene.react(2, "🎉") } == "no_such_conversation")
            #expect(try await code { try await scene.react(2, "👍", .remove) } == "no_such_conversation")
            #expect(try await scene.shown() == ["👍 1 user2"])
        }
    }

    @Test("A block allows only the removal of reactions")
    func blocked() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world, with: [2])
            try await scene.react(2, "👍")
            _ = try await BlockStore(database: world.database.client, storage: StorageQuota()).block(
                BlockRequest(device: world.device(1), target: .name(try UserName("user2"))))
            #expect(try await code { try await scene.react(2, "🎉") } == "blocked")
            #expect(try await scene.react(2, "👍", .remove).isNew)
        }
    }

    @Test("A message has at most 20 different emoji, and 5 of each user")
    func limits() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world, with: [2, 3, 4, 5])
            for user in 1...4 {
                for number in 0..<5 { try await scene.react(user, Self.many[(user - 1) * 5 + number]) }
                #expect(try await code { try await scene.react(user, Self.many[29]) } == "too_many_reactions")
                #expect(try await !scene.react(user, Self.many[(user - 1) * 5]).isNew)
            }
            #expect(try await code { try await scene.react(5, Self.many[20]) } == "too_many_reactions")
            #expect(try await scene.react(5, Self.many[0]).isNew)
            try await scene.react(4, Self.many[19], .remove)
            #expect(try await scene.react(5, Self.many[20]).isNew)
        }
    }

    @Test("Simultaneous reactions don't exceed the limits")
    func race() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            let added = await withTaskGroup(of: Bool.self) { tasks in
                for number in 0..<20 {
                    tasks.addTask { (try? await scene.react(2, Self.many[number]))?.isNew == true }
                }
                return await tasks.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(added == 5)
            #expect(try await world.database.count("conversations.reaction") == 5)
        }
    }

    @Test("A full server still removes reactions")
    func full() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            try await scene.react(2, "👍")
            let row = try await world.database.run(
                """
                SELECT code FROM conversations.react('d2', '\(scene.conversation)', '\(scene.message)', '🎉', true, false)
                """)
            #expect(try row.first?.string("code") == "messages_full")
            let removed = try await world.database.run(
                """
                SELECT code FROM conversations.react('d2', '\(scene.conversation)', '\(scene.message)', '👍', false, false)
                """)
            #expect(try removed.first?.string("code") == "removed")
        }
    }

    @Test("A page shows at most 20 names of an emoji")
    func pages() async throws {
        try await ConversationWorld.with(1...3) { world in
            let scene = try await Scene(world)
            for number in 0..<99 { try await world.send(1, "\(number)", .conversation(scene.conversation)) }
            // 64 users react to every message with 5 emoji.
            try await world.database.run(
                """
                WITH made AS (
                    INSERT INTO conversations.chat_user (name, device_id, named_at)
                    SELECT 'a-rather-long-name-of-a-user' || n, 'x' || n, core.clock()
                    FROM generate_series(1, 64) AS n RETURNING id
                )
                INSERT INTO conversations.reaction (conversation_id, number, user_id, emoji, reacted_at)
                SELECT '\(scene.conversation)', number, made.id, chr(128000 + emoji), core.clock()
                FROM made, generate_series(1, 100) AS number, generate_series(1, 5) AS emoji
                """)
            let up = try await world.page(2, scene.conversation)
            #expect(up.messages.first?.offset == 1 && up.lastOffset == 100)
            let reactions = try #require(up.messages.first?.reactions)
            #expect(reactions.count == 5)
            #expect(reactions.allSatisfy { $0.count == 64 && $0.users.count == 20 })
            #expect((2..<100).contains(up.messages.count))
            let down = try await world.page(2, scene.conversation, .before(90))
            #expect(down.messages.last?.offset == 89 && (2..<89).contains(down.messages.count))
            for page in [up, down] {
                #expect(page.messages.reduce(0) { $0 + $1.json.count + 1 } <= ConversationPage.maximumBytes)
            }
            // All messages are read by further pages.
            var offsets = up.messages.map(\.offset)
            while let last = offsets.last, last < 100 {
                offsets += try await world.page(2, scene.conversation, .after(last)).messages.map(\.offset)
            }
            #expect(offsets == Array(1...100))
        }
    }

    // MARK: Erasure and retention

    private func eraseAll(_ user: Int, _ world: ConversationWorld) async throws {
        var hasMore = try await world.database.erasures.erase(world.device(user))
        while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 500) }
    }

    @Test("An erased user's reactions are invisible at once, and are deleted in steps")
    func erasedUser() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            try await scene.react(2, "👍")
            try await scene.react(3, "👍")
            // More rows than one step deletes.
            try await world.database.run(
                """
                WITH said AS (
                    INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
                    SELECT '\(scene.conversation)', 1 + n, gen_random_uuid(), own.id, 'x', core.clock()
                    FROM conversations.user_of('d1') AS own, generate_series(1, 1200) AS n RETURNING number
                )
                INSERT INTO conversations.reaction (conversation_id, number, user_id, emoji, reacted_at)
                SELECT '\(scene.conversation)', said.number, own.id, '🎉', core.clock()
                FROM conversations.user_of('d2') AS own, said
                """)
            #expect(try await world.database.erasures.erase(world.device(2)))
            #expect(try await scene.shown() == ["👍 1 user3"])
            let left = try await world.database.count("conversations.reaction")
            #expect(left >= 702 && left < 1_202)
            #expect(try await code { try await scene.react(2, "🎉") } == "name_required")
            while try await world.database.erasures.eraseMore(limit: 500) {}
            #expect(try await world.database.count("conversations.reaction") == 1)
            #expect(try await world.database.count("core.erasure") == 0)
        }
    }

    @Test("A message of an erased author has no reactions")
    func erasedAuthor() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            try await scene.react(2, "👍")
            try await eraseAll(1, world)
            #expect(try await scene.shown(to: 2).isEmpty)
            #expect(try await code { try await scene.react(2, "🎉") } == "no_such_message")
            #expect(try await code { try await scene.react(2, "👍", .remove) } == "no_such_message")
        }
    }

    @Test("A message's reactions are deleted in steps")
    func purge() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            for user in 1...3 {
                for number in 0..<5 { try await scene.react(user, Self.many[number]) }
            }
            try await world.database.setClock("2027-11-24T10:00:00Z")
            try await world.send(1, "later", .conversation(scene.conversation))
            let kept = try #require(try await world.page(1, scene.conversation, .before(.max), limit: 1).messages.first)
            try await scene.react(2, "👍", to: kept.id)
            try await world.database.deleteOld(retention: 86_400, limit: 4)
            #expect(try await world.database.count("conversations.reaction") == 12)
            #expect(try await world.database.count("conversations.message") == 2)
            while try await world.database.deleteOld(retention: 86_400, limit: 4) > 0 {}
            #expect(try await world.database.count("conversations.reaction") == 1)
            #expect(try await scene.shown() == ["👍 1 user2"])
        }
    }

    @Test("Reactions are deleted with the group that everyone left")
    func leftGroup() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            for user in 1...3 {
                for number in 0..<5 { try await scene.react(user, Self.many[number]) }
            }
            for user in 1...3 { _ = try await world.set(user, .leave, in: scene.conversation) }
            while try await world.database.deleteOld(retention: 86_400, limit: 2) > 0 {}
            for table in ["reaction", "message", "participant", "conversation"] {
                #expect(try await world.database.count("conversations.\(table)") == 0, "\(table)")
            }
        }
    }

    @Test("A name is kept while a reaction of its device is stored")
    func names() async throws {
        try await ConversationWorld.with { world in
            let scene = try await Scene(world)
            try await scene.react(2, "👍")
            try await world.database.run("DELETE FROM conversations.participant")
            try await world.database.setClock("2027-12-30T10:00:00Z")
            try await world.database.run(
                "SELECT conversations.delete_unused_names(core.clock() - interval '1 s', 10)")
            // user1 has written a message.
            #expect(try await world.database.count("conversations.chat_user") == 2)
            #expect(try await world.database.count("conversations.chat_user WHERE name = 'user2'") == 1)
        }
    }

    @Test("Reading reactions reads few more rows than it returns")
    func plan() async throws {
        try await ConversationWorld.with(1...3) { world in
            let scene = try await Scene(world)
            try await scene.react(2, "👍")
            let growth = """
                WITH made AS (
                    INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at)
                    SELECT gen_random_uuid(), 'group', '{}', core.clock(), core.clock(), core.clock()
                    FROM generate_series(1, 300) RETURNING id
                ), said AS (
                    INSERT INTO conversations.message (conversation_id, number, id, content, sent_at)
                    SELECT made.id, n, gen_random_uuid(), 'x', core.clock() FROM made, generate_series(1, 100) AS n
                    RETURNING conversation_id, number
                )
                INSERT INTO conversations.reaction (conversation_id, number, user_id, emoji, reacted_at)
                SELECT said.conversation_id, said.number, own.id, '🎉', core.clock()
                FROM conversations.user_of('d2') AS own, said
                """
            let visits = try await world.database.visits(
                "conversations.reactions_of('\(scene.conversation)', ARRAY(SELECT generate_series(1, 100)), 20)",
                growth: growth)
            #expect(visits.allSatisfy { $0 < 1_000 }, "\(visits)")
        }
    }
}
