import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Conversations, their participants, and their retention.
@Suite struct ConversationStoreTests {
    @Test(
        "Two users have one conversation, even under concurrency")
    func kinds() async throws {
        try await ConversationWorld.with { world in
            let ids = try await withThrowingTaskGroup(of: UUID.self) { group in
                for number in 0..<8 { group.addTask { try await world.make(1 + number % 2, [2 - number % 2]).0.id } }
                return try await group.reduce(into: Set()) { $0.insert($1) }
            }
            #expect(ids.count == 1)
            let (pair, isNew) = try await world.make(2, [1, 1, 2])
            #expect(!isNew && pair.kind == .person && pair.name == "user1,user2" && pair.lastOffset == 0)
            let id = UUID()
            let (group, isNewGroup) = try await world.make(3, [1, 2], id: id)
            #expect(isNewGroup && group.id == id && group.kind == .group && group.name == "user1,user2,user3")
            let (again, isNewAgain) = try await world.make(1, [2, 3], id: id)
            #expect(!isNewAgain && again.id == id)
            #expect(try await world.make(3, [1, 2]).0.id != id)
            #expect(try await code { _ = try await world.make(3, [1, 4], id: id) } == "id_taken")
            #expect(try await code { _ = try await world.make(3, [4], id: id) } == "id_taken")
            #expect(try await code { _ = try await world.make(1, [1]) } == "invalid_request")
            #expect(try await code { _ = try await world.make(1, []) } == "invalid_request")
            #expect(try await code { _ = try await world.make(1, [9]) } == "no_such_user")
            #expect(try await code { _ = try await world.make(9, [1]) } == "name_required")
        }
    }

    @Test("The length of a routing key limits the participants of a conversation")
    func size() async throws {
        try await ConversationWorld.with(100...163) { world in
            // The routing key has 32 names of 7 bytes and 31 dots.
            let made = try await world.make(100, Array(101...131)).0
            #expect(made.participants.count == 32)
            let refused = try await code { _ = try await world.make(100, Array(101...132)) }
            #expect(refused == "invalid_request")
        }
    }

    @Test("The list has the latest conversation first, in pages, with the last message")
    func lists() async throws {
        try await ConversationWorld.with { world in
            #expect(try await world.list(1).isEmpty)
            #expect(try await code { _ = try await world.list(9) } == "name_required")
            var made: [UUID] = []
            for (number, others) in [[2], [3], [2, 3]].enumerated() {
                try await world.database.setClock("2026-11-22T10:0\(number):00Z")
                made.append(try await world.make(1, others).0.id)
            }
            #expect(try await world.list(1) == made.reversed())
            try await world.database.setClock("2026-11-22T11:00:00Z")
            try await world.send(2, "Hello", .conversation(made[0]))
            #expect(try await world.list(1) == [made[0], made[2], made[1]])
            #expect(try await world.list(1, before: made[2]) == [made[1]])
            let latest = try await world.store.conversations(of: world.device(1)).conversations[0]
            #expect(latest.lastMessage?.content == "Hello" && latest.lastOffset == 1 && latest.readOffset == 0)
            #expect(try await world.set(1, .read(offset: 9), in: made[0]).readOffset == 1)
            #expect(try await world.set(1, .read(offset: 0), in: made[0]).readOffset == 1)
            #expect(try await world.set(1, .mute(true), in: made[0]).isMuted)
            #expect(try await !world.set(1, .mute(false), in: made[0]).isMuted)
            let positions = try await world.store.positions(of: world.device(1))
            #expect(positions.user == "user1" && positions.offsets.map(\.conversation) == [made[0], made[2], made[1]])
            #expect(positions.offsets.map(\.lastOffset) == [1, 0, 0])
        }
    }

    @Test("Pages of the list are consistent while messages arrive")
    func cursor() async throws {
        try await ConversationWorld.with(1...2) { world in
            try await world.database.run(
                """
                WITH made AS (
                    INSERT INTO conversations.conversation (id, kind, members, created_at, used_at, checked_at)
                    SELECT gen_random_uuid(), 'group', '{}', core.clock(), core.clock() + n * interval '1.000007 s',
                        core.clock()
                    FROM generate_series(1, 250) AS n RETURNING id
                )
                INSERT INTO conversations.participant (conversation_id, user_id)
                SELECT made.id, own.id FROM made, conversations.chat_user AS own WHERE own.name = 'user1'
                """)
            var seen: [UUID] = []
            var next: ConversationCursor?
            repeat {
                let list = try await world.store.conversations(of: world.device(1), before: next)
                seen += list.conversations.map(\.id)
                next = list.next.flatMap { ConversationCursor($0.description) }
                if let last = seen.last {
                    try await world.database.run(
                        "UPDATE conversations.conversation SET used_at = used_at + interval '1 day' WHERE id = '\(last)'"
                    )
                }
            } while next != nil
            #expect(seen.count == 250 && Set(seen).count == 250)
            #expect(try await code { _ = try await world.list(2, before: seen[0]) } == "no_such_conversation")
            #expect(ConversationCursor("x") == nil && ConversationCursor("\(seen[0]):x") == nil)
        }
    }

    @Test("A user who left a group keeps only its old messages")
    func leaving() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            try await world.send(1, "before", .conversation(group))
            #expect(try await world.set(3, .leave, in: group).name == "user1,user2")
            try await world.send(1, "after", .conversation(group))
            #expect(try await world.page(1, group).routingKey == "user1.user2")
            let kept = try await world.page(3, group)
            #expect(kept.messages.map(\.content) == ["before"] && kept.lastOffset == 1)
            #expect(try await code { try await world.send(3, "x", .conversation(group)) } == "no_such_conversation")
            #expect(try await world.store.positions(of: world.device(3)).offsets.map(\.lastOffset) == [1])
            #expect(try await world.list(3) == [group])

            let pair = try await world.make(1, [2]).0.id
            _ = try await world.set(2, .leave, in: pair)
            #expect(try await !world.list(2).contains(pair))
            try await world.send(1, "Are you there?", .conversation(pair))
            #expect(try await world.list(2).contains(pair))
            #expect(try await world.page(2, pair).messages.count == 1)
        }
    }

    @Test("The conversations of a device and the messages of the server are limited")
    func quotas() async throws {
        var settings = ConversationSettings()
        settings.perDevice = 2
        var storage = StorageLimits()
        storage.messages = 1
        try await ConversationWorld.with(settings: settings, storage: storage) { world in
            let pair = try await world.make(1, [2]).0.id
            _ = try await world.make(1, [3])
            #expect(try await code { _ = try await world.make(1, [4]) } == "too_many_conversations")
            #expect(try await !world.make(1, [2]).isNew)
            #expect(
                try await code { try await world.send(1, "x", .participants([UserName("user4")])) }
                    == "too_many_conversations")
            try await world.send(1, "one", .conversation(pair))
            #expect(try await code { try await world.send(1, "two", .conversation(pair)) } == "storage_full")
        }
    }

    @Test("A routing key creates no conversation above the server's limit")
    func storedConversations() async throws {
        var storage = StorageLimits()
        storage.conversations = 1
        try await ConversationWorld.with(storage: storage) { world in
            let id = UUID()
            try await world.send(1, "one", ConversationWorld.names([2]), id: id)
            #expect(try await code { try await world.send(1, "two", ConversationWorld.names([3])) } == "storage_full")
            #expect(try await code { _ = try await world.make(1, [3]) } == "storage_full")
            #expect(try await !world.make(2, [1]).isNew)
            #expect(try await !world.send(1, "one", ConversationWorld.names([2]), id: id).isNew)
            try await world.send(2, "three", ConversationWorld.names([1]))
            #expect(try await world.database.count("conversations.conversation") == 1)
        }
    }

    @Test("An erased device's messages lose content and author but keep their offsets")
    func erasing() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            for number in 0..<6 { try await world.send(1 + number % 3, "\(number)", .conversation(group)) }
            var hasMore = try await world.database.erasures.erase(world.device(2))
            while hasMore { hasMore = try await world.database.erasures.eraseMore(limit: 1) }
            let page = try await world.page(1, group)
            #expect(page.messages.map(\.offset) == Array(1...6) && page.routingKey == "user1.user3")
            #expect(page.messages.map(\.content) == ["0", "", "2", "3", "", "5"])
            #expect(page.messages[1].author == "" && page.messages[0].author == "user1")
            #expect(try await code { try await world.send(2, "x", .conversation(group)) } == "name_required")
            let left = try await world.database.run("SELECT 1 FROM conversations.chat_user WHERE device_id = 'd2'")
            #expect(left.isEmpty)
        }
    }

    @Test("Old messages are deleted, and a conversation with its last message")
    func retention() async throws {
        try await ConversationWorld.with { world in
            let (old, used) = (try await world.make(1, [2]).0.id, try await world.make(1, [3]).0.id)
            for conversation in [old, used] { try await world.send(1, "old", .conversation(conversation)) }
            try await world.database.setClock("2027-11-01T10:00:00Z")
            try await world.send(1, "new", .conversation(used))
            #expect(try await world.database.deleteOld(retention: 86_400) == 0)
            try await world.database.setClock("2027-12-01T10:00:00Z")
            while try await world.database.deleteOld(retention: 86_400, limit: 1) > 0 {}
            #expect(try await world.list(1) == [used])
            #expect(try await world.page(1, used).messages.map(\.offset) == [2])
            #expect(try await world.database.count("conversations.participant") == 2)
        }
    }

    @Test("A purge checks an active conversation only once until its last message is too old")
    func look() async throws {
        try await ConversationWorld.with { world in
            let used = try await world.make(1, [2]).0.id
            try await world.database.setClock("2027-11-25T10:00:00Z")
            try await world.send(1, "new", .conversation(used))
            #expect(try await world.database.deleteOld(retention: 86_400) == 1)
            #expect(try await world.database.deleteOld(retention: 86_400) == 0)
            #expect(try await world.list(1) == [used])
            try await world.database.setClock("2028-11-27T10:00:00Z")
            while try await world.database.deleteOld(retention: 86_400) > 0 {}
            #expect(try await world.database.count("conversations.conversation") == 0)
        }
    }
}
