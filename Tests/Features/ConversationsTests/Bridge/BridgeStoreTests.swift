import Domain
import Features
import Foundation
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// The outbox for a broker, and messages received from it, in the database.
@Suite struct BridgeStoreTests {
    private struct World {
        let database: ScheduleDatabase
        let store: ConversationStore
        let bridge: BridgeStore

        func device(_ user: Int) -> DeviceID { DeviceID(stored: "d\(user)") }

        @discardableResult
        func send(_ user: Int, _ content: String, _ others: [Int], id: UUID? = nil) async throws -> ConversationMessage
        {
            try #require(
                try await store.send(
                    OutgoingMessage(
                        content: content, target: .participants(try others.map { try UserName("user\($0)") }), id: id),
                    by: device(user)
                ).messages.first)
        }

        func receive(
            _ user: Int, _ content: String, _ all: [String], in conversation: UUID, id: UUID = UUID()
        ) async throws -> ConversationStore.Sent.Entry {
            try #require(
                try await store.receive(
                    IncomingMessage(
                        id: id, content: content, author: UserName("user\(user)"), conversation: conversation,
                        participants: all.map { try UserName($0) })
                ).entries.first)
        }

        func taken(limit: Int = 100) async throws -> [BridgeStore.Outgoing] {
            guard case .messages(let messages) = try await bridge.take(limit: limit, lease: .seconds(10)).kind else {
                throw ClientFailure.violation("held")
            }
            return messages
        }
    }

    private func with(isSeen: Bool = true, _ body: (World) async throws -> Void) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota(StorageLimits()))
            let world = World(
                database: database, store: store, bridge: BridgeStore(database: database.client, daemon: UUID()))
            for user in 1...4 { _ = try await store.take(UserName("user\(user)"), for: world.device(user)) }
            if isSeen { try await world.bridge.see() }
            try await body(world)
        }
    }

    @Test("Messages wait for a broker until a week after a daemon had one")
    func seen() async throws {
        try await with(isSeen: false) { world in
            try await world.send(1, "before", [2])
            #expect(try await world.database.count("conversations.bridge_message") == 0)
            try await world.bridge.see()
            try await world.send(1, "now", [2])
            #expect(try await world.database.count("conversations.bridge_message") == 1)
            try await world.database.setClock("2026-11-28T10:00:00Z")
            try await world.send(1, "six days later", [2])
            #expect(try await world.database.count("conversations.bridge_message") == 2)
            try await world.database.setClock("2026-11-30T10:00:00Z")
            try await world.send(1, "eight days later", [2])
            #expect(try await world.database.count("conversations.bridge_message") == 2)
            // A waiting message isn't lost if a user returns before the check.
            #expect(try await world.taken().map { $0.content?.message.content } == ["now", "six days later"])
            try await world.send(1, "again", [2])
            #expect(try await world.database.count("conversations.bridge_message") == 3)
            let purge = "SELECT conversations.delete_unsent(2)"
            try await world.database.run(purge)
            #expect(try await world.bridge.see() == 3)
            try await world.database.setClock("2026-12-08T10:00:00Z")
            try await world.database.run(purge)
            #expect(try await world.database.count("conversations.bridge_message") == 1)
        }
    }

    @Test("An outgoing message is removed from the outbox when it is confirmed")
    func outgoing() async throws {
        try await with { world in
            let messages = [
                try await world.send(1, "first", [2]), try await world.send(2, "second", [3, 1]),
                try await world.send(2, "third", [1]),
            ]
            _ = try await world.store.set(
                ParticipantRequest(device: world.device(3), action: .leave), in: messages[1].conversation)
            let taken = try await world.taken(limit: 2)
            #expect(taken.map { $0.content?.message } == Array(messages[..<2]))
            #expect(taken.map { $0.content?.routingKey } == ["user1.user2", "user1.user2.user3"])
            #expect(try await world.taken(limit: 2) == taken, "until it is finished")
            try await world.bridge.finish(taken)
            #expect(try await world.taken().map { $0.content?.message } == [messages[2]])
            // A repeated message has the same id.
            let id = UUID()
            for _ in 0..<2 { try await world.send(1, "once", [2], id: id) }
            #expect(try await world.taken().count == 2)
        }
    }

    @Test("No data of an erased device is published")
    func erased() async throws {
        try await with { world in
            try await world.send(1, "mine", [2, 3])
            try await world.send(2, "theirs", [1, 3])
            _ = try await world.database.erasures.erase(world.device(1))
            try await world.database.run("SELECT conversations.empty_messages('d1', 100)")
            let taken = try await world.taken()
            #expect(taken.map { $0.content?.message.content } == [nil, "theirs"])
            #expect(taken.last?.content?.routingKey == "user2.user3")
        }
    }

    @Test("One daemon publishes at a time, until its lease ends")
    func lease() async throws {
        try await with { world in
            let other = BridgeStore(database: world.database.client, daemon: UUID())
            try await world.send(1, "x", [2])
            #expect(try await world.taken().count == 1)
            let held = try await other.take(limit: 10, lease: .seconds(10))
            #expect(held.kind == .held(for: .seconds(10)) && held.waiting == 1)
            try await world.database.setClock("2026-11-22T10:00:10Z")
            guard case .messages(let messages) = try await other.take(limit: 10, lease: .seconds(10)).kind else {
                Issue.record("still held")
                return
            }
            #expect(messages.count == 1)
            try await other.release()
            #expect(try await world.taken().count == 1)
        }
    }

    @Test("An incoming message is stored once, and isn't published again")
    func incoming() async throws {
        try await with { world in
            let pair = try await world.send(1, "first", [2]).conversation
            let id = UUID()
            let entry = try await world.receive(2, "second", ["user2", "user1"], in: pair, id: id)
            #expect(entry.isNew && entry.page.routingKey == "user1.user2")
            let message = try #require(entry.page.messages.first)
            #expect(message.id == id && message.offset == 2)
            #expect(message.author == "user2" && message.conversation == pair)
            let repeated = try await world.receive(2, "second", ["user1", "user2"], in: pair, id: id)
            #expect(!repeated.isNew && repeated.page.messages == [message])
            #expect(try await world.taken().map { $0.content?.message.content } == ["first"])
            #expect(
                try await code { _ = try await world.receive(2, "other", ["user1", "user2"], in: pair, id: id) }
                    == "id_taken")
            #expect(
                try await code { _ = try await world.receive(1, "second", ["user1", "user2"], in: pair, id: id) }
                    == "id_taken")
        }
    }

    @Test("An unknown conversation is created, except that two users keep their own")
    func unknown() async throws {
        try await with { world in
            let pair = try await world.send(1, "first", [2]).conversation
            let second = try await world.receive(2, "second", ["user1", "user2"], in: UUID())
            #expect(second.page.conversation == pair)
            let id = UUID()
            let third = try await world.receive(3, "hello", ["user1", "user2", "user3"], in: id)
            #expect(third.page.conversation == id && third.page.kind == .group && third.page.lastOffset == 1)
            #expect(try await world.receive(1, "hello", ["user3", "user2", "user1"], in: id).page.lastOffset == 2)
            let new = UUID()
            #expect(try await world.receive(3, "hello", ["user3", "user4"], in: new).page.conversation == new)
            #expect(try await world.receive(4, "hello", ["user3", "user4"], in: UUID()).page.conversation == new)
        }
    }

    @Test(
        "A message to an invalid audience is refused and creates nothing"
    )
    func refused() async throws {
        try await with { world in
            let pair = try await world.send(1, "first", [2]).conversation
            let group = try await world.send(1, "first", [2, 3]).conversation
            let before = try await world.database.count("conversations.conversation")
            func refusal(_ user: Int, _ all: [String], in conversation: UUID = UUID()) async throws -> String? {
                try await code { _ = try await world.receive(user, "x", all, in: conversation) }
            }
            #expect(try await refusal(1, ["user1", "user3"], in: pair) == "other_participants")
            #expect(try await refusal(1, ["user1", "user2", "user3"], in: pair) == "other_participants")
            #expect(try await refusal(1, ["user1", "user2"], in: group) == "other_participants")
            #expect(try await refusal(1, ["user1", "nobody"]) == "no_such_user")
            #expect(try await refusal(9, ["user1", "user9"]) == "no_such_user")
            #expect(try await refusal(1, ["user1"]) == "invalid_request")
            _ = try await world.store.set(ParticipantRequest(device: world.device(3), action: .leave), in: group)
            #expect(try await refusal(1, ["user1", "user2", "user3"], in: group) == "other_participants")
            #expect(try await refusal(1, ["user1", "user2"], in: group) == nil)
            _ = try await BlockStore(database: world.database.client).block(
                try BlockRequest.decode(Array(#"{"deviceId":"d1","name":"user2"}"#.utf8)))
            #expect(try await refusal(2, ["user1", "user2"], in: pair) == "blocked")
            #expect(try await world.database.count("conversations.conversation") == before)
        }
    }

    @Test("An incoming message adds back a participant who left a conversation of two")
    func returning() async throws {
        try await with { world in
            let pair = try await world.send(1, "first", [2]).conversation
            _ = try await world.store.set(ParticipantRequest(device: world.device(1), action: .leave), in: pair)
            let entry = try await world.receive(2, "second", ["user1", "user2"], in: pair)
            #expect(entry.page.routingKey == "user1.user2" && entry.page.lastOffset == 2)
        }
    }
}
