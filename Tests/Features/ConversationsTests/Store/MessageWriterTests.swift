import Domain
import Foundation
import Postgres
import Rooms
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// Messages sent at the same time are stored together.
@Suite struct MessageWriterTests {
    private static func message(
        _ user: Int, _ content: String, in conversation: UUID, id: UUID = UUID()
    ) -> MessageWriter.Message {
        MessageWriter.Message(
            device: DeviceID(stored: "d\(user)"), conversation: conversation, id: id, content: content)
    }

    /// `sent 3`, `repeated 3`, or the error.
    private static func words(_ outcomes: [Result<ConversationStore.Sent, any Error>]) throws -> [String] {
        try outcomes.map { outcome in
            switch outcome {
            case .success(let sent):
                let entry = try #require(sent.entries.first)
                #expect(sent.entries.count == 1)
                return "\(entry.isNew ? "sent" : "repeated") \(entry.page.lastOffset)"
            case .failure(let error as RequestError): return error.code
            case .failure(let error): return "\((error as? PostgresError)?.kind as Any)"
            }
        }
    }

    private static func store(_ messages: [MessageWriter.Message], by world: ConversationWorld) async throws -> [String]
    {
        try words(try await world.store.writer.store(messages))
    }

    /// The number of transactions that stored the messages.
    private static func transactions(_ world: ConversationWorld) async throws -> Int {
        try await world.database.run("SELECT count(DISTINCT xmin::text) AS n FROM conversations.message")[0].integer(
            "n")
    }

    @Test("Each message of a batch has its own outcome")
    func outcomes() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            let pair = try await world.make(2, [3]).0.id
            let blocked = try await world.make(4, [5]).0.id
            _ = try await BlockStore(database: world.database.client).block(
                BlockRequest(device: world.device(5), target: .name(UserName("user4"))))
            let (id, other) = (UUID(), UUID())
            let messages = [
                Self.message(1, "one", in: group, id: id), Self.message(2, "apart", in: pair),
                Self.message(4, "not mine", in: group), Self.message(2, "two", in: group, id: other),
                Self.message(1, "one", in: group, id: id), Self.message(1, "else", in: group, id: id),
                Self.message(2, "one", in: group, id: id), Self.message(9, "nobody", in: group),
                Self.message(4, "blocked", in: blocked), Self.message(1, "nowhere", in: UUID()),
                Self.message(3, "three, \"quoted\" {\\}", in: group),
            ]
            #expect(
                try await Self.store(messages, by: world) == [
                    "sent 1", "sent 1", "no_such_conversation", "sent 2", "repeated 1", "id_taken", "id_taken",
                    "name_required", "blocked", "no_such_conversation", "sent 3",
                ])
            #expect(try await Self.transactions(world) == 1)
            let page = try await world.page(1, group)
            #expect(page.messages.map(\.content) == ["one", "two", "three, \"quoted\" {\\}"])
            #expect(page.messages.map(\.author) == ["user1", "user2", "user3"])
            // Stored messages that are sent again are returned unchanged.
            #expect(try await Self.store([messages[3], messages[0]], by: world) == ["repeated 2", "repeated 1"])
            #expect(try await world.database.count("conversations.message") == 4)
        }
    }

    @Test("Each result contains the position, the recipients and the author")
    func answers() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            _ = try await world.set(3, .leave, in: group)
            let alone = try await world.store.writer.store([Self.message(1, "alone", in: group)])
            let together = try await world.store.writer.store([
                Self.message(2, "together", in: group), Self.message(1, "x", in: group),
            ])
            let (first, second) = (try alone[0].get().entries[0].page, try together[0].get().entries[0].page)
            #expect(second.conversation == group && second.kind == .group && second.routingKey == "user1.user2")
            #expect((first.kind, first.routingKey, first.epoch) == (second.kind, second.routingKey, second.epoch))
            let message = second.messages[0]
            #expect(message.author == "user2" && message.content == "together" && message.offset == 2)
            let page = try await world.page(2, group)
            #expect(message == page.messages[1])
        }
    }

    @Test("Two statements with the same ids in opposite order don't deadlock")
    func crosswise() async throws {
        try await ConversationWorld.with { world in
            var conversations: [UUID] = []
            for other in 2...5 { conversations.append(try await world.make(1, [other]).0.id) }
            conversations.sort { $0.uuidString < $1.uuidString }
            // Counts attempts to store a message, even if they are rolled back. Each is slow, so that two of them
            // overlap.
            try await world.database.run("CREATE SEQUENCE letsswitch.writes")
            try await world.database.run(
                """
                CREATE FUNCTION letsswitch.write_slowly() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM nextval('letsswitch.writes'), pg_sleep(0.2);
                    RETURN NEW;
                END
                $$
                """)
            try await world.database.run(
                """
                CREATE TRIGGER slowly BEFORE INSERT ON conversations.message
                FOR EACH ROW EXECUTE FUNCTION letsswitch.write_slowly()
                """)
            let (one, two) = (UUID(), UUID())
            let places = conversations
            async let first = Self.store(
                [Self.message(1, "a", in: places[0], id: one), Self.message(1, "b", in: places[2], id: two)], by: world)
            async let second = Self.store(
                [Self.message(1, "c", in: places[1], id: two), Self.message(1, "d", in: places[3], id: one)], by: world)
            let outcomes = try await [first, second].sorted { $0[0] > $1[0] }
            #expect(outcomes == [["sent 1", "sent 1"], ["id_taken", "id_taken"]])
            let writes = try await world.database.run("SELECT last_value FROM letsswitch.writes")
            #expect(try writes[0].integer("last_value") == 2)
        }
    }

    @Test("A full server refuses new messages and answers repeated ones")
    func quota() async throws {
        var storage = StorageLimits()
        storage.messages = 2
        try await ConversationWorld.with(storage: storage) { world in
            let pair = try await world.make(1, [2]).0.id
            let messages = (1...2).map { Self.message($0, "\($0)", in: pair) }
            #expect(try await Self.store(messages, by: world) == ["sent 1", "sent 2"])
            let more = [Self.message(1, "more", in: pair), messages[1], Self.message(2, "more", in: pair)]
            #expect(try await Self.store(more, by: world) == ["storage_full", "repeated 2", "storage_full"])
        }
    }

    @Test(
        "A message that fails the statement doesn't affect the others", arguments: ["23505", "40P01"])
    func failure(state: String) async throws {
        try await ConversationWorld.with { world in
            let (group, pair) = (try await world.make(1, [2, 3]).0.id, try await world.make(1, [2]).0.id)
            try await world.database.run(
                """
                CREATE FUNCTION letsswitch.fail() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    RAISE 'no' USING ERRCODE = '\(state)';
                END
                $$
                """)
            try await world.database.run(
                """
                CREATE TRIGGER fails BEFORE INSERT ON conversations.message FOR EACH ROW WHEN (NEW.content = 'fails')
                EXECUTE FUNCTION letsswitch.fail()
                """)
            let messages = [
                Self.message(1, "one", in: group), Self.message(2, "fails", in: pair),
                Self.message(2, "two", in: group), Self.message(9, "nobody", in: group),
            ]
            let outcomes = try await Self.store(messages, by: world)
            #expect(outcomes[0] == "sent 1" && outcomes[2] == "sent 2" && outcomes[3] == "name_required")
            #expect(outcomes[1].contains(state))
            #expect(try await world.page(1, pair).messages.isEmpty)
        }
    }

    @Test("After a lost answer, the outcome is unknown to each caller")
    func lostAnswer() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3]).0.id
            let words = world.database.configuration.conninfo.split(separator: " ")
            func value(_ keyword: String) throws -> String {
                // libpq uses the last value of a repeated keyword.
                let word = try #require(words.last { $0.hasPrefix("\(keyword)=") }, "no \(keyword)")
                return word.dropFirst(keyword.count + 1).filter { $0 != "'" }
            }
            let relay = try StallingRelay(to: .unix(path: "\(try value("host"))/.s.PGSQL.\(try value("port"))"))
            defer { relay.close() }
            var configuration = world.database.configuration
            configuration.conninfo = """
                host=127.0.0.1 port=\(relay.port) user=\(try value("user")) dbname=\(try value("dbname")) \
                sslmode=disable gssencmode=disable
                """
            let client = PostgresClient(configuration: configuration)
            let writer = ConversationStore(
                database: client, settings: ConversationSettings(), storage: StorageQuota()
            ).writer
            _ = try await client.query(PostgresStatement(name: "", sql: "SELECT 1"))
            let messages = (1...3).map { Self.message($0, "\($0)", in: group) }
            relay.stall([.toClient])
            let outcomes = Task { try await writer.store(messages) }
            try await eventually("they are committed") { try await world.database.count("conversations.message") == 3 }
            relay.drop()
            relay.resume()
            let error = await #expect(throws: PostgresError.self) { try await outcomes.value }
            #expect(error?.kind == .unavailable(outcomeUnknown: true))
            #expect(
                try Self.words(try await writer.store(messages)) == ["repeated 1", "repeated 2", "repeated 3"])
            await client.shutdown()
        }
    }

    @Test("Concurrent messages are stored in few transactions, once and in place")
    func together() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3, 4]).0.id
            let offsets = try await withThrowingTaskGroup(of: [Int].self) { tasks in
                for number in 0..<200 {
                    tasks.addTask {
                        try await world.send(1 + number % 4, "\(number)", .conversation(group)).messages.map(\.offset)
                    }
                }
                return try await tasks.reduce(into: []) { $0 += $1 }
            }
            #expect(offsets.sorted() == Array(1...200))
            #expect(try await Self.transactions(world) < 200)
        }
    }

    @Test("The messages of one user keep their order among others")
    func order() async throws {
        try await ConversationWorld.with { world in
            let group = try await world.make(1, [2, 3, 4]).0.id
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for user in 1...4 {
                    tasks.addTask {
                        for number in 0..<25 { try await world.send(user, "\(number)", .conversation(group)) }
                    }
                }
                try await tasks.waitForAll()
            }
            let messages = try await world.page(1, group).messages
            for user in 1...4 {
                let own = messages.filter { $0.author == "user\(user)" }.map(\.content)
                #expect(own == (0..<25).map(String.init))
            }
        }
    }

    @Test("Two batches over the same conversations never deadlock")
    func deadlocks() async throws {
        try await ConversationWorld.with { world in
            var conversations: [UUID] = []
            for _ in 0..<4 { conversations.append(try await world.make(1, [2, 3]).0.id) }
            var configuration = world.database.configuration
            configuration.maxRetries = 0
            let clients = (0..<2).map { _ in PostgresClient(configuration: configuration) }
            let rounds = 20
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for (number, client) in clients.enumerated() {
                    let own = number == 0 ? conversations : conversations.reversed()
                    let users = number == 0 ? [1, 2, 3, 1] : [3, 2, 1, 3]
                    tasks.addTask {
                        let writer = ConversationStore(
                            database: client, settings: ConversationSettings(), storage: StorageQuota()
                        ).writer
                        for round in 0..<rounds {
                            let messages = zip(users, own).map { Self.message($0, "\(round)", in: $1) }
                            let outcomes = try Self.words(try await writer.store(messages))
                            #expect(outcomes.allSatisfy { $0.hasPrefix("sent") })
                        }
                    }
                }
                try await tasks.waitForAll()
            }
            // Each call was one transaction. After a conflict the messages would have been stored one by one.
            #expect(try await Self.transactions(world) == 2 * rounds)
            for client in clients { await client.shutdown() }
        }
    }
}
