import AMQP
import Domain
import Foundation
import TestSupport
import Testing

@testable import Conversations

/// Messages sent to the broker, and verdicts on messages received from it.
@Suite struct BridgeMessageTests {
    private static let id = "5A0C4E1B-0F55-4A34-8B8F-0D1A6E0B9D01"
    private static let conversation = "9F210000-0000-4000-8000-000000000001"

    @Test("An outgoing message has the clients' format")
    func outgoing() throws {
        let message = ConversationMessage(
            id: try #require(UUID(uuidString: Self.id)), content: "Tea? \"Ü\"\n", author: "user1",
            date: try #require(Instant("2026-11-22T09:00:00Z")),
            conversation: try #require(UUID(uuidString: Self.conversation)), offset: 7)
        let out = BridgeMessage.outgoing(.init(message: message, routingKey: "user1.user3"))
        #expect(out.exchange == "conv" && out.routingKey == "user1.user3" && out.furtherKeys.isEmpty)
        #expect(out.properties.messageID == Self.id && out.properties.appID == "letsswitch")
        #expect(
            String(decoding: out.body, as: UTF8.self) == """
                {"id":"\(Self.id)","content":"Tea? \\"Ü\\"\\n","author":"user1","date":817030800,"conversation":"\(Self.conversation)"}
                """)
        // Swift's own decoder must be able to read the date.
        struct Decoded: Decodable {
            let id: UUID
            let date: Date
        }
        let decoded = try JSONDecoder().decode(Decoded.self, from: Data(out.body))
        #expect(decoded.id == message.id && Int(decoded.date.timeIntervalSince1970) == message.date.seconds)
    }

    private func verdict(
        _ change: [String: TestJSON?] = [:], key: String = "user1.user3", appID: String? = nil
    ) throws -> BridgeMessage.Verdict {
        var members: [String: TestJSON] = [
            "id": .string(Self.id), "content": "Tea?", "author": "user1", "date": 817_030_800.25,
            "conversation": .string(Self.conversation),
        ]
        for (name, value) in change { members[name] = value }
        return BridgeMessage.verdict(
            appID: appID, routingKey: key, body: Array(try TestJSON.object(members).encoded()))
    }

    @Test("An incoming message is stored for the users in its routing key, including the author")
    func incoming() throws {
        let expected = BridgeMessage.Verdict.store(
            try IncomingMessage(
                id: try #require(UUID(uuidString: Self.id)), content: "Tea?", author: try UserName("user1"),
                conversation: UUID(uuidString: Self.conversation),
                participants: [try UserName("user1"), try UserName("user3")]))
        #expect(try verdict() == expected)
        #expect(try verdict(appID: "somebody") == expected)
        // The date isn't stored, so it may have any value or be missing.
        for date in ["2026-11-22T09:00:00Z", nil] as [TestJSON?] { #expect(try verdict(["date": date]) == expected) }
        #expect(try verdict(["more": [1, 2]]) == expected)
        #expect(try verdict(["id": .string(Self.id.lowercased())]) == expected)
    }

    @Test(
        "A message without a conversation's UUID is for the conversation of its participants",
        arguments: [nil, .null, "x", "8fKq2nVbT1cYwZ0aLd3E"] as [TestJSON?])
    func noConversation(_ conversation: TestJSON?) throws {
        let participants = [try UserName("user1"), try UserName("user3")]
        #expect(
            try verdict(["conversation": conversation])
                == .store(
                    try IncomingMessage(
                        id: try #require(UUID(uuidString: Self.id)), content: "Tea?", author: participants[0],
                        conversation: nil, participants: participants)))
    }

    @Test("A message without an id gets a new one", arguments: [nil, .null] as [TestJSON?])
    func noID(_ id: TestJSON?) throws {
        let ids = try (0..<2).map { _ -> UUID? in
            guard case .store(let message) = try verdict(["id": id]) else { return nil }
            return message.id
        }
        #expect(ids[0] != nil && ids[1] != nil && ids[0] != ids[1])
    }

    @Test("The server's own message is dropped before it is parsed")
    func own() {
        #expect(BridgeMessage.verdict(appID: "letsswitch", routingKey: "..", body: nil) == .own)
    }

    @Test(
        "A routing key with a word that can't be a name is rejected",
        arguments: ["", "user1.", ".user1", "user1..user3", "user1.üser", "user1.user 3", "user1.#", "*.user1"])
    func routingKeys(_ key: String) throws {
        #expect(try verdict(key: key) == .reject(.routingKey))
    }

    @Test("A message whose author isn't a participant is rejected")
    func author() throws {
        for author in ["user2", "User1", "", "user1.user3"] as [TestJSON] {
            #expect(try verdict(["author": author]) == .reject(.author))
        }
    }

    @Test("An invalid or empty message is rejected")
    func malformed() throws {
        for (name, value) in [
            ("id", "x"), ("id", 1), ("content", nil), ("content", " "), ("content", 5), ("content", "\0"),
            ("content", .string(String(repeating: "a", count: 2_001))), ("author", nil), ("author", [:]),
            ("conversation", 5),
        ] as [(String, TestJSON?)] {
            #expect(try verdict([name: value]) == .reject(.malformed), "\(name)")
        }
        for body in ["", "[]", "null", "{", "{\"id\":\"\(Self.id)\"}"] {
            #expect(
                BridgeMessage.verdict(appID: nil, routingKey: "user1.user3", body: Array(body.utf8))
                    == .reject(.malformed))
        }
        // A body that is too long isn't kept, so it is `nil` here.
        #expect(BridgeMessage.verdict(appID: nil, routingKey: "user1.user3", body: nil) == .reject(.malformed))
    }

    @Test("The longest permitted content fits with any escapes")
    func longest() throws {
        let content = String(repeating: "\u{1F37A}", count: 2_000)
        guard case .store(let message) = try verdict(["content": .string(content)]) else {
            Issue.record("it isn't stored")
            return
        }
        #expect(message.content == content)
        #expect(2_000 * "\\ud83c\\udf7a".utf8.count + 1_000 < BridgeMessage.longestBody)
    }

    @Test("The bridge's exchange equals the clients' declaration")
    func topology() {
        #expect(BridgeTopology.exchange == AMQPExchange("conv", .topic, isDurable: false))
        let consumed = (BridgeTopology.publishing + BridgeTopology.consuming).compactMap {
            if case .consumption(let queue, _) = $0 { queue } else { nil }
        }
        #expect(consumed == ["letsswitch.bridge"])
        #expect(
            BridgeTopology.consuming.contains(
                .binding(AMQPBinding(queue: "letsswitch.bridge", exchange: "conv", key: "#"))))
    }
}
