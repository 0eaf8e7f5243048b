import Domain
import Foundation
import Postgres
import ScheduleTestSupport
import Scheduling
import TestSupport
import Testing

@testable import Messaging

@Suite struct ConversationStoreTests {
    /// A store, and devices with names: user1's is called d1.
    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore

        init(
            _ database: ScheduleDatabase, users: ClosedRange<Int> = 1...5,
            settings: ConversationSettings = ConversationSettings(), storage: StorageLimits = StorageLimits()
        ) async throws {
            self.database = database
            store = ConversationStore(database: database.client, settings: settings, storage: StorageQuota(storage))
            for user in users { #expect(try await take("user\(user)", user)) }
        }

        func device(_ user: Int) -> DeviceID { DeviceID(stored: "d\(user)") }

        func take(_ name: String, _ user: Int) async throws -> Bool {
            try await store.take(UserName(name), for: device(user))
        }

        func make(_ user: Int, _ others: [Int], id: UUID? = nil) async throws -> (Conversation, isNew: Bool) {
            let made = try await store.make(
                NewConversationRequest(
                    device: device(user), participants: try others.map { try UserName("user\($0)") }, id: id))
            return (made.conversation, made.isNew)
        }

        @discardableResult
        func send(
            _ user: Int, _ content: String, _ target: MessageTarget, id: UUID? = nil
        ) async throws -> ConversationStore.Sent {
            try await store.send(OutgoingMessage(content: content, target: target, id: id), by: device(user))
        }

        func set(_ user: Int, _ action: ParticipantAction, in conversation: UUID) async throws -> Conversation {
            try await store.set(ParticipantRequest(device: device(user), action: action), in: conversation)
        }

        func page(
            _ user: Int?, _ conversation: UUID, _ range: ConversationStore.MessageRange = .after(0), limit: Int = 100
        ) async throws -> ConversationPage {
            try await store.messages(in: conversation, range, limit: limit, for: user.map { device($0) })
        }

        func list(_ user: Int, before last: UUID? = nil) async throws -> [UUID] {
            let last = last.map { ConversationCursor(conversation: $0) }
            return try await store.conversations(of: device(user), before: last).conversations.map(\.id)
        }
    }

    private func with(
        _ users: ClosedRange<Int> = 1...5, settings: ConversationSettings = ConversationSettings(),
        storage: StorageLimits = StorageLimits(), _ body: (World) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { database in
            try await body(World(database, users: users, settings: settings, storage: storage))
        }
    }

    private func code(_ body: () async throws -> Void) async throws -> String? {
        do {
            try await body()
            return nil
        } catch let error as RequestError {
            return error.code
        }
    }

    @Test("A name is the first one's who comes, never changes, and is nobody's after its device was erased")
    func names() async throws {
        try await with(1...2) { world in
            #expect(try await !world.take("user1", 1))
            #expect(try await code { _ = try await world.take("other", 1) } == "has_name")
            #expect(try await code { _ = try await world.take("user1", 3) } == "name_taken")
            #expect(try await world.take("User1", 3))
            #expect(try await world.take("user10", 4))
            #expect(try await world.store.users(prefix: "") == ["User1", "user1", "user10", "user2"])
            #expect(try await world.store.users(prefix: "user1") == ["user1", "user10"])
            #expect(try await world.store.users(prefix: "user3").isEmpty)
            _ = try await world.database.erasures.erase(world.device(1))
            #expect(try await world.store.users(prefix: "user1") == ["user10"])
            #expect(try await code { _ = try await world.take("user1", 5) } == "name_taken")
            #expect(try await code { _ = try await world.take("user1", 1) } == "name_taken")
            #expect(try await world.take("new", 1))
            let retired = try await world.database.run("SELECT digest FROM letsswitch.retired_name")
            #expect(try retired.map { try $0.string("digest").count } == [64])
        }
    }

    @Test("Many want one name at once: one gets it")
    func race() async throws {
        try await with(1...1) { world in
            let outcomes = await withTaskGroup(of: Bool.self) { group in
                for user in 10..<30 { group.addTask { (try? await world.take("ada", user)) == true } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count { $0 } == 1)
        }
    }

    @Test(
        "A pair has one conversation, whoever makes it and however many at once; a group is made anew, but for its id")
    func kinds() async throws {
        try await with { world in
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

    @Test("A conversation has as many as their names fit a routing key")
    func size() async throws {
        try await with(100...163) { world in
            // 32 × 7 bytes and 31 dots.
            let made = try await world.make(100, Array(101...131)).0
            #expect(made.participants.count == 32)
            let refused = try await code { _ = try await world.make(100, Array(101...132)) }
            #expect(refused == "invalid_request")
        }
    }

    @Test("Messages are numbered without gaps, however many speak at once, and a repeat by id changes nothing")
    func sending() async throws {
        try await with { world in
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

    @Test("One call sends to several conversations, a message in each, or in none; its repeat repeats all")
    func several() async throws {
        try await with { world in
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

    @Test("A routing key finds the oldest conversation of exactly these, or makes one, once for each id")
    func byKey() async throws {
        try await with { world in
            func names(_ users: [Int]) throws -> MessageTarget {
                .participants(try users.map { try UserName("user\($0)") })
            }
            let id = UUID()
            let first = try await world.send(1, "Hello", names([3, 5]), id: id)
            let group = first.messages[0].conversation
            #expect(try await world.send(1, "Hello", names([5, 3, 1]), id: id).messages == first.messages)
            _ = try await world.make(1, [3, 5])
            #expect(try await world.send(5, "Yes", names([1, 3])).messages[0].conversation == group)
            #expect(try await world.send(1, "You", names([3])).messages[0].conversation != group)
            #expect(try await code { try await world.send(1, "x", names([1])) } == "invalid_request")
            #expect(try await code { try await world.send(1, "x", names([3, 9])) } == "no_such_user")
            // One that somebody has left is no longer of exactly these.
            _ = try await world.set(3, .leave, in: group)
            #expect(try await world.send(1, "Again", names([3, 5])).messages[0].conversation != group)
            #expect(try await world.database.count("conversation") == 3)
        }
    }

    @Test("Pages go up and down by offsets, as large as they may be")
    func pages() async throws {
        try await with { world in
            let pair = try await world.make(1, [2]).0.id
            for number in 1...250 {
                try await world.database.run(
                    """
                    INSERT INTO letsswitch.message (conversation_id, number, id, author_id, content, sent_at)
                    SELECT '\(pair)', \(number), gen_random_uuid(), id, '\(number)', now()
                    FROM letsswitch.chat_user WHERE name = 'user1'
                    """)
            }
            try await world.database.run("UPDATE letsswitch.conversation SET last_number = 250")
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

    @Test("The list has the latest first, in pages, with what was said last")
    func lists() async throws {
        try await with { world in
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

    @Test("Who has left a group keeps what was said, and neither hears nor says more; a pair comes together again")
    func leaving() async throws {
        try await with { world in
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

    @Test("An erased device's messages have no content and no author any more, and keep their offsets")
    func erasing() async throws {
        try await with { world in
            let group = try await world.make(1, [2, 3]).0.id
            for number in 0..<6 { try await world.send(1 + number % 3, "\(number)", .conversation(group)) }
            var step = try await world.database.erasures.erase(world.device(2))
            while step.hasMore { step = try await world.database.erasures.eraseMore(limit: 1) }
            let page = try await world.page(1, group)
            #expect(page.messages.map(\.offset) == Array(1...6) && page.routingKey == "user1.user3")
            #expect(page.messages.map(\.content) == ["0", "", "2", "3", "", "5"])
            #expect(page.messages[1].author == "" && page.messages[0].author == "user1")
            #expect(try await code { try await world.send(2, "x", .conversation(group)) } == "name_required")
            let left = try await world.database.run("SELECT 1 FROM letsswitch.chat_user WHERE device_id = 'd2'")
            #expect(left.isEmpty)
        }
    }

    @Test("What is older than the retention goes, and a conversation with its last message")
    func retention() async throws {
        try await with { world in
            let (old, used) = (try await world.make(1, [2]).0.id, try await world.make(1, [3]).0.id)
            for conversation in [old, used] { try await world.send(1, "old", .conversation(conversation)) }
            try await world.database.setClock("2027-11-01T10:00:00Z")
            try await world.send(1, "new", .conversation(used))
            let erasures = world.database.erasures
            #expect(try await erasures.purge(retention: 86_400) == 0)
            try await world.database.setClock("2027-12-01T10:00:00Z")
            while try await erasures.purge(retention: 86_400, limit: 1) > 0 {}
            #expect(try await world.list(1) == [used])
            #expect(try await world.page(1, used).messages.map(\.offset) == [2])
            #expect(try await world.database.count("participant") == 2)
        }
    }

    @Test("A device has as many conversations as it may, and the server as many messages")
    func quotas() async throws {
        var settings = ConversationSettings()
        settings.perDevice = 2
        var storage = StorageLimits()
        storage.messages = 1
        try await with(settings: settings, storage: storage) { world in
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
}

/// What strangers, repeats and calls at the same moment can't do.
extension ConversationStoreTests {
    private func names(_ users: [Int]) throws -> MessageTarget {
        .participants(try users.map { try UserName("user\($0)") })
    }

    @Test("Nobody's list is filled by others; what was left doesn't count; a pair brings back nobody who is full")
    func membership() async throws {
        var settings = ConversationSettings()
        settings.perDevice = 2
        try await with(1...6, settings: settings) { world in
            let pair = try await world.make(2, [1]).0.id
            let group = try await world.make(3, [1, 4]).0.id
            for others in [[1], [1, 6]] {
                #expect(try await code { _ = try await world.make(5, others) } == "too_many_conversations")
                #expect(try await code { try await world.send(5, "x", names(others)) } == "too_many_conversations")
            }
            #expect(try await world.store.positions(of: world.device(5)).offsets.isEmpty)
            _ = try await world.set(1, .leave, in: group)
            _ = try await world.set(1, .leave, in: pair)
            _ = try await world.make(5, [1])
            _ = try await world.make(6, [1])
            #expect(
                try await code { try await world.send(2, "x", .conversation(pair)) } == "too_many_conversations")
            #expect(try await code { _ = try await world.make(1, [2]) } == "too_many_conversations")
            // Those that it is inside of, and behind them those that it has left.
            let positions = try await world.store.positions(of: world.device(1)).offsets.map(\.conversation)
            #expect(positions.count == 4 && Set(positions.suffix(2)) == [pair, group])
        }
    }

    @Test("A routing key makes no conversation beyond the server's limit, and what it makes counts")
    func storedConversations() async throws {
        var storage = StorageLimits()
        storage.conversations = 1
        try await with(storage: storage) { world in
            let id = UUID()
            try await world.send(1, "one", names([2]), id: id)
            #expect(try await code { try await world.send(1, "two", names([3])) } == "storage_full")
            #expect(try await code { _ = try await world.make(1, [3]) } == "storage_full")
            #expect(try await !world.make(2, [1]).isNew)
            #expect(try await !world.send(1, "one", names([2]), id: id).isNew)
            try await world.send(2, "three", names([1]))
            #expect(try await world.database.count("conversation") == 1)
        }
    }

    @Test("A full server still answers who repeats its name")
    func storedUsers() async throws {
        var storage = StorageLimits()
        storage.users = 2
        try await with(1...2, storage: storage) { world async throws in
            #expect(try await !world.take("user1", 1))
            #expect(try await code { _ = try await world.take("user1", 3) } == "name_taken")
            #expect(try await code { _ = try await world.take("user3", 3) } == "storage_full")
            #expect(try await world.database.count("chat_user") == 2)
        }
    }

    @Test("Many say something to the same at once by a routing key: one conversation, and one message for one id")
    func atOnce() async throws {
        try await with { world in
            let id = UUID()
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for number in 0..<12 {
                    tasks.addTask {
                        let others = [1, 2, 3].filter { $0 != 1 + number % 3 }
                        try await world.send(1 + number % 3, "\(number)", names(others))
                    }
                    tasks.addTask { try await world.send(1, "once", names([2, 3]), id: id) }
                }
                try await tasks.waitForAll()
            }
            #expect(try await world.database.count("conversation") == 1)
            #expect(try await world.database.count("message") == 13)
        }
    }

    @Test("What is refused for its id makes no conversation")
    func nothingLeft() async throws {
        try await with { world in
            let id = UUID()
            try await world.send(1, "one", names([2]), id: id)
            #expect(try await code { try await world.send(1, "two", names([3, 4]), id: id) } == "id_taken")
            #expect(try await code { try await world.send(3, "one", names([4]), id: id) } == "id_taken")
            #expect(try await world.database.count("conversation") == 1)
        }
    }

    @Test("A repeat is answered as the first time, whoever has left, blocked or been erased since, however full it is")
    func repeats() async throws {
        var storage = StorageLimits()
        storage.messages = 3
        try await with(storage: storage) { world in
            let (group, pair) = (try await world.make(1, [2, 3]).0.id, try await world.make(1, [2]).0.id)
            let ids = (0..<3).map { _ in UUID() }
            let targets: [MessageTarget] = [.conversation(group), .conversation(pair), try names([4])]
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

    @Test("Pages of the list follow one another, whatever is said between them; a foreign conversation is no place")
    func cursor() async throws {
        try await with(1...2) { world in
            try await world.database.run(
                """
                WITH made AS (
                    INSERT INTO letsswitch.conversation (id, kind, members, created_at, used_at, look_at)
                    SELECT gen_random_uuid(), 'group', '{}', letsswitch.clock(), letsswitch.clock() + n * interval '1.000007 s',
                        letsswitch.clock()
                    FROM generate_series(1, 250) AS n RETURNING id
                )
                INSERT INTO letsswitch.participant (conversation_id, user_id)
                SELECT made.id, own.id FROM made, letsswitch.chat_user AS own WHERE own.name = 'user1'
                """)
            var seen: [UUID] = []
            var next: ConversationCursor?
            repeat {
                let list = try await world.store.conversations(of: world.device(1), before: next)
                seen += list.conversations.map(\.id)
                next = list.next.flatMap { ConversationCursor($0.description) }
                if let last = seen.last {
                    try await world.database.run(
                        "UPDATE letsswitch.conversation SET used_at = used_at + interval '1 day' WHERE id = '\(last)'")
                }
            } while next != nil
            #expect(seen.count == 250 && Set(seen).count == 250)
            #expect(try await code { _ = try await world.list(2, before: seen[0]) } == "no_such_conversation")
            #expect(ConversationCursor("x") == nil && ConversationCursor("\(seen[0]):x") == nil)
        }
    }

    @Test("Who was erased has left; its row goes with the last conversation that it was in, and its name stays taken")
    func forgottenUsers() async throws {
        try await with(1...3) { world in
            try await world.send(1, "Hello", names([2]))
            for user in 2...3 {
                var step = try await world.database.erasures.erase(world.device(user))
                while step.hasMore { step = try await world.database.erasures.eraseMore(limit: 1) }
            }
            let inside = try await world.database.run("SELECT 1 FROM letsswitch.participant WHERE left_number IS NULL")
            #expect(inside.count == 1)
            // user3 was in nothing.
            #expect(try await world.database.count("chat_user") == 2)
            try await world.database.setClock("2027-12-01T10:00:00Z")
            while try await world.database.erasures.purge(retention: 86_400) > 0 {}
            #expect(try await world.database.count("chat_user") == 1)
            #expect(try await code { _ = try await world.take("user2", 4) } == "name_taken")
        }
    }

    @Test("A call with new and repeated messages says of each which it is")
    func mixed() async throws {
        try await with { world in
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

    @Test("What daemons are told is read as it is written; what isn't theirs, is nothing")
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

    @Test("Purging looks at a conversation in use once, and then when what was said in it last is too old")
    func look() async throws {
        try await with { world in
            let used = try await world.make(1, [2]).0.id
            try await world.database.setClock("2027-11-25T10:00:00Z")
            try await world.send(1, "new", .conversation(used))
            #expect(try await world.database.erasures.purge(retention: 86_400) == 1)
            #expect(try await world.database.erasures.purge(retention: 86_400) == 0)
            #expect(try await world.list(1) == [used])
            try await world.database.setClock("2028-11-27T10:00:00Z")
            while try await world.database.erasures.purge(retention: 86_400) > 0 {}
            #expect(try await world.database.count("conversation") == 0)
        }
    }

    @Test("A page's size is that of its JSON, as a socket is told it")
    func pageBytes() async throws {
        try await with { world in
            let group = try await world.make(1, [2, 3]).0.id
            let quoted = String(repeating: "\"", count: 2_000)
            for _ in 0..<12 { try await world.send(1, quoted, .conversation(group)) }
            // 4,000 bytes each, escaped.
            #expect(try await world.page(1, group).messages.map(\.offset) == Array(1...7))
            #expect(try await world.page(1, group, .before(13)).messages.map(\.offset) == Array(6...12))
        }
    }
}
