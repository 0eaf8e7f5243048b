import Domain
import Foundation
import JourneyTestSupport
import Postgres
import Questions
import Server
import Settings
import TestSupport
import Testing

/// Stored messages count for the sender's address, whichever transport sends them. Messages refused by a full quota are
/// counted in the metrics.
@Suite struct MessageQuotaTests {
    private static let stranger: TestHeaders = ["X-Forwarded-For": "203.0.113.7"]

    private func send(_ content: TestJSON, by headers: TestHeaders = stranger, at endpoint: ClientEndpoint) async throws
        -> TestResponse
    {
        try await HTTPTestClient.request(at: endpoint, "POST", "/messages", headers: headers, json: content)
    }

    @Test("All kinds of messages of an address count together on every transport")
    func together() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.limits.messagesPerDay = 8 }
            try await endpoint.makeUsers(1...3)
            let conversations = [
                try await endpoint.makeConversation(1, [2]), try await endpoint.makeConversation(1, [3]),
            ]
            let both: TestJSON = [
                "type": "send", "deviceId": "d1", "content": "Tea?",
                "conversations": .array(conversations.map { .string("\($0)") }),
            ]
            let session = try await TestSession.make(at: endpoint)
            let path = "/questions/\(session.id)/socket"
            let asker = try await QuestionPeer.connect(to: endpoint, "\(path)?deviceId=ada", headers: Self.stranger)
            // A message that isn't stored costs nothing.
            #expect(try await asker.ask(" ")["success"] == false)
            let question = try await asker.asked("Why?")
            // Repeated votes of a device for one question count as one message.
            for _ in 0..<9 { try await asker.vote(question) }
            let socket = try await WebSocketTestClient.connect(
                to: endpoint, "/conversations/socket?deviceId=d1", headers: Self.stranger)
            let peer = ConversationPeer(socket: socket, handshake: try await socket.nextMessage().json())
            try await peer.send(both)
            _ = try await peer.await("sent")
            #expect(try await send(both, at: endpoint).status == 201)
            let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=bob", headers: Self.stranger)
            let identifier = #"{"channel":"QuestionsChannel","session":"\#(session.id)"}"#
            try await cable.enter(identifier)
            let how = try await answer(to: #"{"action":"ask","content":"How?"}"#, cable, identifier)
            #expect(how["success"] == true)
            func announce() async throws -> TestResponse {
                try await HTTPTestClient.request(
                    at: endpoint, "POST", "/questions/\(session.id)/announce",
                    headers: ["X-Forwarded-For": "203.0.113.7", "Authorization": "Bearer \(session.key)"],
                    json: ["content": "Tea!", "to": "all"])
            }
            #expect(try await announce().status == 200)

            // Eight messages are stored. Nothing that follows is stored.
            let refused = try await asker.ask("When?")
            #expect(refused["success"] == false && refused["message"].string?.hasPrefix("This address") == true)
            try await asker.vote(try #require(how["id"].string.flatMap(UUID.init(uuidString:))))
            #expect(try await asker.receive("error") { _ in true }["code"] == "too_many_messages")
            try await peer.send(both)
            #expect(try await peer.await("error")["code"] == "too_many_messages")
            let late = try await answer(to: #"{"action":"ask","content":"Who?"}"#, cable, identifier)
            #expect(late["success"] == false && late["message"] == refused["message"])
            let response = try await send(both, at: endpoint)
            #expect(response.status == 429 && response.code == "too_many_messages")
            // The message goes to two conversations. At eight messages a day it must wait for two eighths of a day.
            #expect(response.headers["Retry-After"] == "21600")
            #expect(try await announce().code == "too_many_messages")

            #expect(try await session.list().map { $0["votes"] } == [1, 0])
            #expect(try await send(both, by: ["X-Forwarded-For": "203.0.113.8"], at: endpoint).status == 201)
            for _ in 0..<5 { #expect(try await send(both, by: [:], at: endpoint).status == 201) }
            let stored = try await journey.sql("SELECT count(*)::int AS count FROM conversations.message")
            #expect(try stored[0].integer("count") == 16)
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics[#"letsswitch_turned_away_total{cause="messages-per-day"}"#] == 6)
        }
    }

    private func answer(to action: String, _ cable: CablePeer, _ identifier: String) async throws -> TestJSON {
        try await cable.socket.send(text: CablePeer.message(action, identifier))
        while true {
            let message = try await cable.receiveMessage(of: identifier)
            if message.type == "questionResponse" { return message.data }
        }
    }

    @Test("A full quota is counted, also on a socket")
    func counted() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                ($0.questions.questionsPerSession, $0.storage.votes, $0.storage.messages) = (1, 1, 1)
            }
            let session = try await TestSession.make(at: endpoint)
            let ada = try await session.join("ada")
            let question = try await ada.asked("Why?")
            #expect(try await ada.ask("When?")["success"] == false)
            try await ada.vote(question)
            let bob = try await session.join("bob")
            // The first vote must be counted before the second is sent, because votes are gathered and stored together.
            try await eventually("a vote counts") { try await session.list()[0]["votes"] == 1 }
            try await bob.vote(question)
            #expect(try await bob.receive("error") { _ in true }["code"] == "storage_full")
            try await endpoint.makeUsers(1...2)
            let conversation = try await endpoint.makeConversation(1, [2])
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            for _ in 0..<2 {
                try await peer.send(["type": "send", "content": "Tea?", "conversation": .string("\(conversation)")])
            }
            #expect(try await peer.await("error")["code"] == "storage_full")
            let metrics = try await MetricsReading(endpoint)
            for cause in ["max-questions-per-session", "max-stored-votes", "max-stored-messages"] {
                #expect(metrics["letsswitch_turned_away_total{cause=\"\(cause)\"}"] == 1, "\(cause)")
            }
        }
    }
}
