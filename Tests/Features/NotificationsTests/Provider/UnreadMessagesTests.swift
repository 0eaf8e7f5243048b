import Foundation
import TestSupport
import Testing

@testable import Notifications

/// The notification of unread messages, as each provider sends it.
@Suite struct UnreadMessagesTests {
    private static let conversation = "9F210000-0000-4000-8000-000000000001"

    private func untold(
        authors: [String] = ["user1"], count: Int = 1, recent: [UnreadMessages.Recent]? = nil
    ) throws -> UnreadMessages {
        UnreadMessages(
            conversation: try #require(UUID(uuidString: Self.conversation)), name: "user1,user2", authors: authors,
            count: count, recent: recent ?? [.init(author: "user1", content: "Tea?")], person: "tag")
    }

    private func delivery(_ untold: UnreadMessages, _ provider: ProviderName) -> Delivery {
        Delivery(
            id: 1, provider: provider, messageId: UUID(), happenedAt: 0, deadline: 86_400, asOf: 0, attempt: 1,
            address: "", details: "{}", registeredAt: 0, content: .messages(untold))
    }

    @Test(
        "The text names authors and the number of messages",
        arguments: [
            (["user1"], 1, "user1", "1 new message"), (["b", "a"], 2, "b and a", "2 new messages"),
            (["a", "b", "c"], 7, "a, b and 1 more", "7 new messages"),
            (["a", "b", "c", "d", "e"], 1_000, "a, b and 3 more", "1000 new messages"),
        ])
    func words(_ authors: [String], _ count: Int, _ who: String, _ howMany: String) throws {
        let untold = try untold(authors: authors, count: count)
        #expect(untold.authorSummary == who && untold.countSummary == howMany)
    }

    @Test("Apple, ntfy and the webhook receive authors and numbers without texts")
    func withoutWords() throws {
        let untold = try untold(authors: ["user1", "user3"], count: 3)
        #expect(
            try TestJSON(parsing: APNsPayload.json(untold)) == [
                "aps": [
                    "alert": ["title": "user1 and user3", "body": "3 new messages"], "sound": "default",
                    "thread-id": .string(Self.conversation.lowercased()),
                ],
                "type": "messages", "conversation": .string(Self.conversation), "count": 3,
            ])
        #expect(
            try TestJSON(parsing: NtfyMessage(untold, topic: "t", publicURL: "https://example.org").json) == [
                "topic": "t", "title": "user1 and user3", "message": "3 new messages", "priority": 3,
                "tags": ["speech_balloon"],
                "click": .string("https://example.org/conversations#\(Self.conversation)"),
            ])
        let message = delivery(untold, .webhook)
        #expect(
            try TestJSON(parsing: Array(message.payload.utf8)) == [
                "person": "tag", "conversation": .string(Self.conversation), "name": "user1,user2",
                "authors": ["user1", "user3"], "count": 3,
            ])
        #expect(message.event == "messages" && !message.isUrgent)
    }

    @Test("Web Push receives the texts, without device tags")
    func withWords() throws {
        let messages = [
            UnreadMessages.Recent(author: "user1", content: "Tea?"), .init(author: "user3", content: "Yes\n\"ü\""),
        ]
        let text = WebPushProvider.text(
            of: delivery(try untold(authors: ["user1", "user3"], count: 9, recent: messages), .webPush))
        #expect(
            try TestJSON(parsing: Array(text.utf8)) == [
                "type": "messages", "conversation": .string(Self.conversation), "name": "user1,user2",
                "authors": ["user1", "user3"], "count": 9,
                "messages": [
                    ["author": "user1", "content": "Tea?"], ["author": "user3", "content": "Yes\n\"ü\""],
                ],
            ])
    }

    @Test(
        "The content always fits, because messages are left out or cut",
        arguments: ["x", "\u{1}", "🎹"])
    func fits(_ character: String) throws {
        let long = String(repeating: character, count: 500)
        let messages = (1...5).map { UnreadMessages.Recent(author: "user\($0)", content: long) }
        for limit in [3_993, 1_500, 400] {
            let text = try untold(recent: messages).jsonWithTexts(maxBytes: limit)
            #expect(text.utf8.count <= limit)
            let messages = try #require(try TestJSON(parsing: Array(text.utf8))["messages"].array)
            #expect(messages.last?["author"] == "user5")
            let content = try #require(messages.last?["content"].string)
            #expect(content == long || content.hasSuffix("…"))
        }
    }
}
