import Domain
import Foundation
import Observability
import Postgres
import ScheduleTestSupport
import TestSupport
import Testing

@testable import Conversations

/// The joins and leaves that a daemon publishes.
@Suite struct ConversationChangesTests {
    @Test("A participant who left receives no messages sent since")
    func leaver() async throws {
        try await ScheduleDatabase.with(now: nil) { database in
            let store = ConversationStore(
                database: database.client, settings: ConversationSettings(), storage: StorageQuota())
            let (audience, notified) = (ConnectedUsers(), EventRecorder<String>())
            for number in 1...3 {
                _ = try await store.take(UserName("user\(number)"), for: DeviceID("d\(number)"))
                audience.enter("user\(number)")
            }
            let group = try await store.make(
                NewConversationRequest.decode(Array(#"{"deviceId":"d1","participants":["user2","user3"]}"#.utf8))
            ).conversation.id
            func send(_ content: String) async throws {
                let message = try OutgoingMessage(content: content, target: .conversation(group), id: nil)
                _ = try await store.send(message, by: DeviceID("d1"))
            }
            try await send("before")
            _ = try await store.set(
                ParticipantRequest.decode(.leave, Array(#"{"deviceId":"d3"}"#.utf8)), in: group)
            for _ in 0..<2 { try await send("afterwards") }

            let changes = ConversationChanges(store: store, log: Log(level: .error, format: nil), audience: audience) {
                let (page, users) = ($0.summary, $1)
                for user in users {
                    notified.append("\(user) \(page.messages.map(\.content)) \(page.lastOffset) \(page.routingKey)")
                }
            }
            // This conversation was announced when all had joined.
            await changes.receive("\(group) made - user1.user2.user3")
            await changes.receive("\(group) left user3 user1.user2")
            try await notified.next("the leaver's notice") { $0.hasPrefix("user3") }
            let inside = [#"user1 ["afterwards"] 3 user1.user2"#, #"user2 ["afterwards"] 3 user1.user2"#]
            #expect(notified.all == inside + inside + [#"user3 ["before"] 1 user1.user2"#])
        }
    }
}
