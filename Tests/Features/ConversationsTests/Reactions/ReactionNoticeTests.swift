import Domain
import Foundation
import Observability
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// The notification that a reaction was added or removed.
@Suite struct ReactionNoticeTests {
    private static let (conversation, message) = (UUID(), UUID())

    private static func payload(_ change: String = "added", emoji: String = "🎉", offset: String = "7") -> String {
        "\(conversation) reaction user2 user1.user2 \(offset) \(message) \(change) \(emoji)"
    }

    @Test("A notice has all members of its payload")
    func members() throws {
        let notice = try #require(ReactionNotice(Self.payload("removed")))
        #expect(notice.conversation == Self.conversation && notice.message == Self.message)
        #expect(notice.user == "user2" && notice.routingKey == "user1.user2" && notice.offset == 7)
        #expect(notice.emoji == "🎉" && !notice.isAdded)
        #expect(ReactionNotice(Self.payload())?.isAdded == true)
    }

    @Test(
        "Another payload isn't a notice",
        arguments: [
            "", "x", payload("changed"), payload(emoji: "no"), payload(emoji: ""), payload(offset: "0"),
            payload() + " ",
            "\(conversation) left user2 user1", "\(conversation) made - user1.user2",
        ])
    func others(payload: String) {
        #expect(ReactionNotice(payload) == nil)
    }

    @Test("A build that doesn't know reactions ignores the payload")
    func olderDaemons() {
        #expect(ConversationNotice(Self.payload()) == nil)
    }

    @Test("A notice is published to all participants without a query")
    func publication() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
            let (audience, published) = (ConnectedUsers(), EventRecorder<String>())
            let changes = ConversationChanges(store: store, log: Log(level: .error, format: nil), audience: audience) {
                _, _ in
                published.append("a change")
            } reaction: { publication, users in
                published.append("\(publication.notice.emoji) to \(users.joined(separator: " "))")
            }
            await changes.receive(Self.payload())
            audience.enter("user2")
            await changes.receive(Self.payload(emoji: "👍"))
            #expect(published.all == ["👍 to user1 user2"])
        }
    }
}
