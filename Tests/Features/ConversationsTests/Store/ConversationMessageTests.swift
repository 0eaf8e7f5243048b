import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Messages in conversations: they are numbered, stored once for each id, and read in pages.
@Suite struct ConversationMessageTests {
    @Test("Messages are numbered without gaps, even concurrently")
    func sending() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<30 {
                    tasks.addTask { try await world.send(1 + number % 3, "\(number)", .conversation(group)) }
                }
                try await tasks.waitForAll()
            }
            let page = try await world.page(2, group)
            #expect(page.messages.map(\.offset) == Array(1...30) && page.lastOffset == 30)
            #expect(Set(page.messages.map(\.content)) == Set((0..<30).map { "\($0)" }))
            #expect(page.routingKey == "user1.user2.user3")
            let id = UUID()
            let sent = try await world.send(1, "Hello", .conversation(group), id: id)
            let again = try await world.send(1, "Hello", .conversation(group), id: id)
            #expect(sent.isNew && !again.isNew && again.messages == sent.messages && sent.messages[0].offset == 31)
            #expect(sent.messages[0].author == "user1" && sent.messages[0].date == Instant("2026-11-22T10:00:00Z"))
            let other = try await world.make(1, [2]).0.id
            for (user, content, conversation) in [(1, "Other", group), (2, "Hello", group), (1, "Hello", other)] {
                let refused = try await code {
                    try await world.send(user, content, .conversation(conversation), id: id)
                }
                #expect(refused == "id_taken")
            }
            #expect(try await code { try await world.send(4, "x", .conversation(group)) } == "no_such_conversation")
            #expect(try await code { try await world.send(1, "x", .conversation(UUID())) } == "no_such_conversation")
            #expect(try await code { try await world.send(9, "x", .conversation(group)) } == "name_required")
            #expect(try await world.page(nil, group).lastOffset == 31)
        }
    }

    @Test("A message to several conversations is stored in all or in none")
    func several() async throws {
        try await ConversationWorld.with { world in
            let some = [try await world.make(1, [2]).0.id, try await world.make(1, [3, 4]).0.id]
            let foreign = try await world.make(2, [3]).0.id
            #expect(
                try await code { try await world.send(1, "x", .conversations(some + [foreign])) }
                    == "no_such_conversation")
            for conversation in some { #expect(try await world.page(1, conversation).messages.isEmpty) }
            let id = UUID()
            let sent = try await world.send(1, "Tea?", .conversations(some), id: id)
            #expect(sent.messages.map(\.conversation) == some && Set(sent.messages.map(\.id)).count == 2)
            let again = try await world.send(1, "Tea?", .conversations(some), id: id)
            #expect(!again.isNew && again.messages == sent.messages)
            #expect(try await code { try await world.send(1, "Ale?", .conversations(some), id: id) } == "id_taken")
            for conversation in some { #expect(try await world.page(1, conversation).lastOffset == 1) }
        }
    }

    @Test("A call with new and repeated messages reports which are new")
    func mixed() async throws {
        try await ConversationWorld.with { world in
            let conversations = [
                try await world.make(1, [2]).0.id, try await world.make(1, [3]).0.id, try await world.make(1, [4]).0.id,
            ]
            let id = UUID()
            try await world.send(1, "x", .conversations(Array(conversations.prefix(2))), id: id)
            let sent = try await world.send(1, "x", .conversations(conversations), id: id)
            #expect(sent.entries.map(\.isNew) == [false, false, true] && sent.isNew)
            #expect(sent.entries.map(\.page.conversation) == conversations)
            #expect(sent.entries.map(\.page.kind) == [.person, .person, .person])
        }
    }

    @Test("A routing key selects the oldest conversation of exactly these users")
    func byKey() async throws {
        try await ConversationWorld.with { world in
            let id = UUID()
            let first = try await world.send(1, "Hello", ConversationWorld.names([3, 5]), id: id)
            let group = first.messages[0].conversation
            #expect(
                try await world.send(1, "Hello", ConversationWorld.names([5, 3, 1]), id: id).messages == first.messages)
            _ = try await world.make(1, [3, 5])
            #expect(try await world.send(5, "Yes", ConversationWorld.names([1, 3])).messages[0].conversation == group)
            #expect(try await world.send(1, "You", ConversationWorld.names([3])).messages[0].conversation != group)
            #expect(try await code { try await world.send(1, "x", ConversationWorld.names([1])) } == "invalid_request")
            #expect(try await code { try await world.send(1, "x", ConversationWorld.names([3, 9])) } == "no_such_user")
            // A group that somebody has left no longer has exactly these participants.
            _ = try await world.set(3, .leave, in: group)
            #expect(
                try await world.send(1, "Again", ConversationWorld.names([3, 5])).messages[0].conversation != group)
            #expect(try await world.database.count("conversations.conversation") == 3)
        }
    }

    @Test("Concurrent messages with one routing key create one conversation")
    func atOnce() async throws {
        try await ConversationWorld.with { world in
            let id = UUID()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<12 {
                    tasks.addTask {
                        let others = [1, 2, 3].filter { $0 != 1 + number % 3 }
                        try await world.send(1 + number % 3, "\(number)", ConversationWorld.names(others))
                    }
                    tasks.addTask { try await world.send(1, "once", ConversationWorld.names([2, 3]), id: id) }
                }
                try await tasks.waitForAll()
            }
            #expect(try await world.database.count("conversations.conversation") == 1)
            #expect(try await world.database.count("conversations.message") == 13)
        }
    }

    @Test("A message that is refused for its id creates no conversation")
    func nothingLeft() async throws {
        try await ConversationWorld.with { world in
            let id = UUID()
            try await world.send(1, "one", ConversationWorld.names([2]), id: id)
            #expect(
                try await code { try await world.send(1, "two", ConversationWorld.names([3, 4]), id: id) } == "id_taken"
            )
            #expect(
                try await code { try await world.send(3, "one", ConversationWorld.names([4]), id: id) } == "id_taken")
            #expect(try await world.database.count("conversations.conversation") == 1)
        }
    }

    @Test("A repeated message is answered as the first time")
    func repeats() async throws {
        var storage = StorageLimits()
        storage.messages = 3
        try await ConversationWorld.with(storage: storage) { world in
            let (group, pair) = (try await world.make(1, [2, 3]).0.id, try await world.make(1, [2]).0.id)
            let ids = (0..<3).map { _ in UUID() }
            let targets: [MessageTarget] = [
                .conversation(group), .conversation(pair), try ConversationWorld.names([4]),
            ]
            for (id, target) in zip(ids, targets) { try await world.send(1, "said", target, id: id) }
            _ = try await world.set(1, .leave, in: group)
            _ = try await BlockStore(database: world.database.client, storage: StorageQuota())
                .block(BlockRequest(device: world.device(2), target: .name(UserName("user1"))))
            _ = try await world.database.erasures.erase(world.device(4))
            for (id, target) in zip(ids, targets) {
                #expect(try await !world.send(1, "said", target, id: id).isNew)
                #expect(try await code { try await world.send(1, "other", target, id: id) } == "id_taken")
            }
            #expect(try await code { try await world.send(1, "new", .conversation(group)) } == "storage_full")
        }
    }

    @Test("Pages follow offsets in both directions, up to the maximum size")
    func pages() async throws {
        try await ConversationWorld.with { world in
            let pair = try await world.make(1, [2]).0.id
            for number in 1...250 {
                try await world.database.run(
                    """
                    INSERT INTO conversations.message (conversation_id, number, id, author_id, content, sent_at)
                    SELECT '\(pair)', \(number), gen_random_uuid(), id, '\(number)', now()
                    FROM conversations.chat_user WHERE name = 'user1'
                    """)
            }
            try await world.database.run("UPDATE conversations.conversation SET last_number = 250")
            func offsets(_ range: ConversationStore.MessageRange, limit: Int = 1_000) async throws -> [Int] {
                try await world.page(2, pair, range, limit: limit).messages.map(\.offset)
            }
            #expect(try await offsets(.after(0)) == Array(1...100))
            #expect(try await offsets(.after(200)) == Array(201...250))
            #expect(try await offsets(.after(250)).isEmpty)
            #expect(try await offsets(.before(251), limit: 3) == [248, 249, 250])
            #expect(try await offsets(.before(3)) == [1, 2])
            let long = String(repeating: "ä", count: 2_000)
            for _ in 0..<20 { try await world.send(1, long, .conversation(pair)) }
            #expect(try await offsets(.after(250)) == Array(251...257))
            #expect(try await offsets(.before(271)) == Array(264...270))
            #expect(try await code { _ = try await world.page(3, pair) } == "no_such_conversation")
        }
    }

    @Test("The size of a page is the size of its JSON on a socket")
    func pageBytes() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            let quoted = String(repeating: "\"", count: 2_000)
            for _ in 0..<12 { try await world.send(1, quoted, .conversation(group)) }
            // 4,000 bytes each, escaped.
            #expect(try await world.page(1, group).messages.map(\.offset) == Array(1...7))
            #expect(try await world.page(1, group, .before(13)).messages.map(\.offset) == Array(6...12))
        }
    }

    @Test("A notification to other daemons is read as written, and an invalid one is ignored")
    func notices() async throws {
        let id = UUID()
        let message = MessageNotice("\(id) 7 abc user1.user2")
        #expect(message?.conversation == id && message?.offset == 7)
        #expect(message?.origin == "abc" && message?.routingKey == "user1.user2")
        let left = ConversationNotice("\(id) left user3 user1.user2")
        #expect(left?.change == .left(user: "user3") && left?.audience == ["user1", "user2", "user3"])
        #expect(ConversationNotice("\(id) made - user1.user2")?.change == .made)
        for garbage in [
            "", "x", "\(id) 7", "\(id) 0 abc user1", "\(id) x abc user1", "\(id) went - user1", "x 1 a b c",
        ] {
            #expect(MessageNotice(garbage) == nil && ConversationNotice(garbage) == nil, "\(garbage)")
        }
    }
}
