import Domain
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

@testable import Access

/// Reactions over HTTP and all transports.
@Suite struct ReactionTests {
    /// A conversation of user1 and others with one message of user1.
    private struct Scene {
        let endpoint: ClientEndpoint
        let conversation: UUID
        let message: String

        init(_ endpoint: ClientEndpoint, users: ClosedRange<Int> = 1...3, with others: [Int] = [2]) async throws {
            self.endpoint = endpoint
            try await endpoint.makeUsers(users)
            conversation = try await endpoint.makeConversation(1, others)
            let sent = try await endpoint.send(1, "Tea?", in: conversation)
            message = try #require(try sent.json()["messages"][0]["id"].string)
        }

        var path: String { "/conversations/\(conversation)/messages/\(message)/reactions" }

        func react(
            _ user: Int, _ emoji: String, at other: ClientEndpoint? = nil, path: String? = nil
        ) async throws -> TestResponse {
            try await (other ?? endpoint).post(
                path ?? self.path, ["deviceId": "d\(user)", "emoji": .string(emoji)])
        }

        func remove(_ user: Int, _ query: String = "&emoji=%F0%9F%8E%89") async throws -> TestResponse {
            try await HTTPTestClient.request(at: endpoint, "DELETE", "\(path)?deviceId=d\(user)\(query)")
        }

        /// The first message as it is listed for a user.
        func listed(_ user: Int = 1) async throws -> TestJSON {
            try await endpoint.get("/conversations/\(conversation)/messages?deviceId=d\(user)").json()["messages"][0]
        }
    }

    @Test("A reaction is created once, listed and removed")
    func routes() async throws {
        try await Journey.run { journey in
            let scene = try await Scene(try await journey.daemon())
            #expect(try await scene.listed()["reactions"].isAbsent)
            let made = try await scene.react(2, "🎉")
            #expect(made.status == 201)
            #expect(try await scene.listed() == made.json())
            #expect(made.text.hasSuffix(#""offset":1,"reactions":[{"emoji":"🎉","count":1,"users":["user2"]}]}"#))
            let again = try await scene.react(2, "🎉")
            #expect(again.status == 200 && again.text == made.text)
            #expect(try await scene.react(1, "🎉").json()["reactions"][0]["count"] == 2)
            let removed = try await scene.remove(2)
            #expect(removed.status == 200 && removed.text.contains(#""users":["user1"]"#))
            #expect(try await scene.remove(2).status == 200)
            #expect(try await scene.remove(1).json()["reactions"].isAbsent)
            #expect(try await scene.listed()["reactions"].isAbsent)
        }
    }

    @Test("Invalid, foreign and unknown input is refused with its code")
    func refusals() async throws {
        try await Journey.run { journey in
            let scene = try await Scene(try await journey.daemon())
            let base = "/conversations/\(scene.conversation)/messages"
            for (user, emoji, path, status, code) in [
                (1, "no", nil, 400, "invalid_request"), (1, "", nil, 400, "invalid_request"),
                (1, "👍", "\(base)/x/reactions", 400, "invalid_request"),
                (1, "👍", "/conversations/x/messages/\(scene.message)/reactions", 400, "invalid_request"),
                (1, "👍", "\(base)/\(UUID())/reactions", 404, "no_such_message"),
                (3, "👍", nil, 404, "no_such_conversation"), (9, "👍", nil, 409, "name_required"),
            ] as [(Int, String, String?, Int, String)] {
                let response = try await scene.react(user, emoji, path: path)
                #expect(response.status == status && response.code == code, "\(user) \(emoji)")
            }
            #expect(try await scene.endpoint.post(scene.path, ["deviceId": "d1"]).code == "invalid_request")
            #expect(try await scene.endpoint.post(scene.path, ["emoji": "👍"]).code == "invalid_request")
            for (user, query, code) in [
                (1, "", "invalid_request"), (1, "&emoji=x", "invalid_request"),
                (3, "&emoji=%F0%9F%8E%89", "no_such_conversation"),
            ] { #expect(try await scene.remove(user, query).code == code, "\(query)") }
            for emoji in ["🐀", "🐁", "🐂", "🐃", "🐄"] { #expect(try await scene.react(1, emoji).status == 201) }
            let full = try await scene.react(1, "🐅")
            #expect(full.status == 409 && full.code == "too_many_reactions")
        }
    }

    @Test("A reaction counts as a message in the rates of a device and an address")
    func rates() async throws {
        try await Journey.run { journey in
            let scene = try await Scene(try await journey.daemon { $0.cable.messageRate = 1 })
            var codes: [String?] = []
            for _ in 0..<300 where codes.last != "too_many_messages" {
                codes.append(try await scene.react(2, "🎉").code)
            }
            #expect(codes.last == "too_many_messages")
        }
    }

    @Test("A ticket for one conversation allows reactions in no other")
    func tickets() async throws {
        try await Journey.run { journey in
            let secret = String(repeating: "s", count: 40)
            var settings = TicketSettings()
            settings.secrets = [TicketSecret(secret)].compactMap { $0 }
            let tickets = settings
            let scene = try await Scene(try await journey.daemon { $0.tickets.secrets = tickets.secrets })
            for (topic, status) in [(UUID(), 403), (scene.conversation, 201)] {
                let token = try TicketOrder(
                    device: DeviceID("d1"), lifetime: .seconds(60), topics: [TopicPattern("conversation:\(topic)")]
                ).token(tickets, at: Int64(Date().timeIntervalSince1970))
                let response = try await scene.endpoint.post("\(scene.path)?token=\(token)", ["emoji": "🎉"])
                #expect(response.status == status && response.code == (status == 403 ? "topic_not_allowed" : nil))
            }
        }
    }

    @Test(
        "Each change of reactions reaches all participants on every daemon")
    func hints() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            let scene = try await Scene(one, users: 1...4, with: [2, 3])
            let peers = [
                try await ConversationPeer.connect(to: one, "d2"), try await ConversationPeer.connect(to: other, "d1"),
            ]
            let stranger = try await ConversationPeer.connect(to: other, "d4")
            let channel = #"{"channel":"ConversationChannel","id":"\#(scene.conversation)"}"#
            let cable = try await CablePeer.welcomed(at: other, "?deviceId=d3")
            try await cable.enter(channel)
            let stream = try await EventStreamTestClient.connect(
                to: other, "/messages?deviceId=d3&after=\(scene.conversation):0")
            _ = try await stream.nextComment()
            #expect(try await stream.nextEvent().event == "message")

            for (isAdded, status) in [(true, 201), (true, 200), (false, 200), (false, 200)] {
                let response = isAdded ? try await scene.react(2, "🎉") : try await scene.remove(2)
                #expect(response.status == status)
            }
            for isAdded in [true, false] {
                let members: TestJSON = [
                    "conversation": .string(scene.conversation.uuidString), "offset": 1,
                    "messageId": .string(scene.message), "user": "user2", "emoji": "🎉", "added": .bool(isAdded),
                ]
                let event = TestJSON.object((members.object ?? [:]).merging(["type": "reaction"]) { $1 })
                for peer in peers { #expect(try await peer.receive("reaction") == event) }
                let content = try await cable.receiveMessage(of: channel)
                #expect(content.type == "reaction" && content.data == members)
                let sent = try await stream.nextEvent()
                #expect(try sent.event == "reaction" && sent.json() == event)
            }
            for peer in peers + [stranger] { try await peer.expectNothing() }
            await stream.close()
        }
    }

    @Test("Sockets and channels can add and remove reactions")
    func commands() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let scene = try await Scene(endpoint)
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            let command: [String: TestJSON] = [
                "type": "react", "conversation": .string(scene.conversation.uuidString),
                "messageId": .string(scene.message), "emoji": "👍", "ref": "r",
            ]
            func send(_ more: [String: TestJSON]) async throws {
                try await peer.send(.object(command.merging(more) { $1 }))
            }
            for (isRemoved, count) in [(false, 1), (true, 0)] {
                try await send(["remove": .bool(isRemoved)])
                let reacted = try await peer.await("reacted")
                #expect(reacted["ref"] == "r" && reacted["message"]["id"].string == scene.message)
                #expect((reacted["message"]["reactions"].array?.count ?? 0) == count)
            }
            for (more, code) in [
                (["emoji": "x"], "invalid_request"), (["emoji": .absent], "invalid_request"),
                (["messageId": "x"], "invalid_request"), (["conversation": "x"], "invalid_request"),
                (["remove": "yes"], "invalid_request"),
                (["messageId": .string(UUID().uuidString)], "no_such_message"),
                (["conversation": .string(UUID().uuidString)], "no_such_conversation"),
            ] as [([String: TestJSON], String)] {
                try await send(more)
                let error = try await peer.await("error")
                #expect(error["code"].string == code && error["ref"] == "r", "\(more)")
            }

            let channel = #"{"channel":"ConversationChannel","id":"\#(scene.conversation)"}"#
            let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=d2")
            try await cable.enter(channel)
            for isRemoved in [false, true] {
                try await cable.perform(
                    [
                        "action": "react", "messageId": .string(scene.message), "emoji": "❤️",
                        "remove": .bool(isRemoved),
                    ], channel)
                // The hint may come first.
                var types: Set<String?> = []
                for _ in 0..<2 { types.insert(try await cable.receiveMessage(of: channel).type) }
                #expect(types == ["reaction", "reacted"])
            }
            for data in [
                ["action": "react", "emoji": "👍"], ["action": "react", "messageId": .string(scene.message)],
                ["action": "react", "messageId": .string(scene.message), "emoji": "👍", "remove": 1],
            ] as [TestJSON] {
                try await cable.perform(data, channel)
                #expect(try await cable.receiveMessage(of: channel).data["code"] == "invalid_request")
            }
        }
    }

    @Test("Missed messages and history include their reactions")
    func backlog() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let scene = try await Scene(endpoint)
            #expect(try await scene.react(2, "🎉").status == 201)
            let expected: TestJSON = [["emoji": "🎉", "count": 1, "users": ["user2"]]]
            let peer = try await ConversationPeer.connect(to: endpoint, "d1", after: [scene.conversation: 0])
            #expect(try await peer.receive("message")["message"]["reactions"] == expected)
            try await peer.send(["type": "history", "conversation": .string(scene.conversation.uuidString)])
            #expect(try await peer.receive("history")["messages"][0]["reactions"] == expected)
            let channel = #"{"channel":"ConversationChannel","id":"\#(scene.conversation)","after":0}"#
            let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=d1")
            try await cable.enter(channel)
            #expect(try await cable.receiveMessage(of: channel).data["reactions"] == expected)
            let stream = try await EventStreamTestClient.connect(
                to: endpoint, "/messages?deviceId=d1&after=\(scene.conversation):0")
            _ = try await stream.nextComment()
            #expect(try await stream.nextEvent().json()["message"]["reactions"] == expected)
            await stream.close()
        }
    }

    @Test("An erased user's reactions are invisible when the erasure is answered")
    func erasure() async throws {
        try await Journey.run { journey in
            let scene = try await Scene(try await journey.daemon())
            #expect(try await scene.react(2, "🎉").status == 201)
            let erased = try await HTTPTestClient.request(at: scene.endpoint, "DELETE", "/device?deviceId=d2")
            #expect(erased.status == 200)
            #expect(try await scene.listed()["reactions"].isAbsent)
            try await journey.wait(until: "NOT EXISTS (SELECT FROM conversations.reaction)")
        }
    }
}
