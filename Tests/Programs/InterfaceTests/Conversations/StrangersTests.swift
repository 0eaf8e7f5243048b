import Conversations
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// Conversations with strangers, over HTTP. Strangers can't prevent a user from talking to others.
@Suite struct StrangersTests {
    @Test("A stranger's groups don't keep their members from creating conversations")
    func groups() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.conversations.perDevice = 5 }
            try await endpoint.makeUsers(1...4)
            var groups: Set<String> = []
            for _ in 1...5 { groups.insert(try await endpoint.makeConversation(1, [2, 3]).uuidString) }
            let more: TestJSON = ["deviceId": "d1", "participants": ["user2", "user3"]]
            let refused = try await endpoint.post("/conversations", more)
            #expect(refused.status == 429 && refused.code == "too_many_conversations")
            #expect(try refused.json()["reason"].string?.contains("made or answered") == true)
            _ = try await endpoint.makeConversation(2, [4])

            let peer = try await ConversationPeer.connect(to: endpoint, "d2")
            let block: TestJSON = ["deviceId": "d2", "name": "user1"]
            let statuses = try await withThrowingTaskGroup(of: Int.self) { tasks in
                for _ in 1...6 { tasks.addTask { try await endpoint.post("/blocks", block).status } }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses.sorted() == [200, 200, 200, 200, 200, 201])
            var left: Set<String> = []
            for _ in 1...5 {
                let event = try await peer.receive("left")
                #expect(event["user"] == "user2" && event["participants"] == ["user1", "user3"])
                left.insert(event["conversation"].string ?? "")
            }
            #expect(left == groups)
            for (target, body) in [
                ("conversations", ["deviceId": "d3", "participants": ["user1", "user2"]]),
                ("messages", ["deviceId": "d3", "content": "x", "routingKey": "user1.user2"]),
            ] as [(String, TestJSON)] {
                let response = try await endpoint.post("/\(target)", body)
                #expect(response.status == 403 && response.code == "blocked", "\(target)")
            }
        }
    }
}
