import Access
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// Conversations on `/cable`.
@Suite struct CableConversationTests {
    private func identifier(_ conversation: UUID?, _ more: String = "") -> String {
        let id = conversation.map { #","id":"\#($0)""# } ?? ""
        return #"{"channel":"ConversationChannel"\#(id)\#(more)}"#
    }

    @Test("A subscriber sends and receives messages and reads the history")
    func journey() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            let other = try await endpoint.makeConversation(2, [3])
            for number in 1...3 { try await endpoint.send(1, "\(number)", in: pair) }
            let (one, two) = (
                try await CablePeer.welcomed(at: endpoint, "?deviceId=d1"),
                try await CablePeer.welcomed(at: endpoint, "?deviceId=d2")
            )
            let (mine, hers) = (identifier(pair, #","after":1"#), identifier(nil))
            try await one.enter(mine)
            try await two.enter(hers)
            for offset in 2...3 {
                let message = try await one.receiveMessage(of: mine)
                #expect(message.type == "message" && message.data["offset"].int == offset)
            }
            try await one.perform(["action": "speak", "content": "Hello"], mine)
            let received = [try await one.receiveMessage(of: mine), try await two.receiveMessage(of: hers)]
            for message in received {
                #expect(message.type == "message" && message.data["author"] == "user1")
                #expect(message.data["offset"] == 4 && message.data["content"] == "Hello")
            }
            // A subscriber of all conversations also receives another conversation's messages.
            try await two.perform(
                ["action": "speak", "content": "Psst", "conversation": .string(other.uuidString)], hers)
            #expect(try await two.receiveMessage(of: hers).data["content"] == "Psst")
            try await one.perform(["action": "history", "after": "2", "limit": 1], mine)
            let history = try await one.receiveMessage(of: mine)
            #expect(history.type == "history" && history.data["lastOffset"] == 4)
            #expect(history.data["messages"].array?.map { $0["offset"] } == [3])
            for (data, code) in [
                (["action": "speak"], "invalid_request"), (["action": "speak", "content": " "], "invalid_request"),
                (["action": "dance"], "unknown_action"),
            ] as [(TestJSON, String)] {
                try await one.perform(data, mine)
                let error = try await one.receiveMessage(of: mine)
                #expect(error.type == "error" && error.data["code"].string == code)
            }
            try await one.unsubscribe(mine)
            try await endpoint.send(2, "later", in: pair)
            _ = try await two.receiveMessage(of: hers)
            try await one.expectNothing()
        }
    }

    @Test("A message sent again under its id is repeated only to its sender")
    func repeated() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let (mine, id) = (identifier(pair), UUID())
            func send(_ peer: CablePeer, _ mine: String, id: UUID, expecting offsets: [Int]) async throws {
                try await peer.perform(["action": "speak", "content": "Hello", "id": .string(id.uuidString)], mine)
                for offset in offsets {
                    let received = try await peer.receiveMessage(of: mine)
                    #expect(received.type == "message" && received.data["offset"].int == offset)
                    #expect(received.data["id"].string == id.uuidString && received.data["author"] == "user1")
                }
            }
            let other = try await CablePeer.welcomed(at: endpoint, "?deviceId=d2")
            try await other.enter(mine)
            let first = try await CablePeer.welcomed(at: endpoint, "?deviceId=d1")
            try await first.enter(mine)
            for _ in 0..<2 { try await send(first, mine, id: id, expecting: [1]) }
            #expect(try await other.receiveMessage(of: mine).data["offset"] == 1)
            await first.socket.close()
            // It reconnects and doesn't know whether its message was stored.
            let second = try await CablePeer.welcomed(at: endpoint, "?deviceId=d1")
            try await second.enter(mine)
            try await send(second, mine, id: id, expecting: [1])
            try await send(second, mine, id: UUID(), expecting: [2])
            #expect(try await other.receiveMessage(of: mine).data["offset"] == 2)
            // The repeated message arrives once, with its offset.
            let after = identifier(pair, #","after":0"#)
            try await second.subscribe(after)
            try await second.perform(["action": "speak", "content": "Hello", "id": .string(id.uuidString)], after)
            var offsets: [Int] = []
            #expect(try await second.receive() == CablePeer.confirmation(after))
            while offsets.last != 2 {
                offsets.append(try #require(try await second.receiveMessage(of: after).data["offset"].int))
            }
            #expect(offsets == [1, 2])
            try await other.expectNothing()
        }
    }

    @Test("A subscriber that may not read the conversation is rejected")
    func rejections() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            for (query, identifier) in [
                ("?deviceId=d3", identifier(pair)), ("?deviceId=x", identifier(nil)), ("", identifier(nil)),
                ("?deviceId=d1", identifier(UUID())), ("?deviceId=d1", #"{"channel":"ConversationChannel","id":"x"}"#),
                ("?deviceId=d1", identifier(pair, #","after":"x""#)),
            ] {
                let peer = try await CablePeer.welcomed(at: endpoint, query)
                try await peer.subscribe(identifier)
                #expect(try await peer.receive() == CablePeer.rejection(identifier), "\(query) \(identifier)")
            }
        }
    }

    @Test(
        "Notifications announce new conversations and their messages")
    func notifications() async throws {
        try await Journey.run { journey in
            let (endpoint, other) = (try await journey.daemon(), try await journey.daemon())
            try await endpoint.makeUsers(1...2)
            let channel = #"{"channel":"NotificationsChannel"}"#
            let (two, three) = (
                try await CablePeer.welcomed(at: other, "?deviceId=d2"),
                try await CablePeer.welcomed(at: endpoint, "?deviceId=d3")
            )
            for peer in [two, three] { try await peer.enter(channel) }
            try await endpoint.makeUsers(3...3)
            let group = try await endpoint.makeConversation(1, [2, 3])
            for peer in [two, three] {
                let begun = try await peer.receiveMessage(of: channel)
                #expect(begun.type == "new_chat" && begun.data["id"].string == group.uuidString)
                #expect(begun.data["participants"] == ["user1", "user2", "user3"] && begun.data["type"] == "group")
                #expect(begun.data["lastOffset"] == 0 && begun.data["lastMessage"].isAbsent)
            }
            for offset in 1...2 {
                try await endpoint.send(1, "Hello", in: group)
                for peer in [two, three] {
                    let message = try await peer.receiveMessage(of: channel)
                    #expect(message.type == (offset == 1 ? "new_chat" : "update_chat"))
                    #expect(message.data["lastOffset"].int == offset && message.data["name"] == "user1,user2,user3")
                    #expect(message.data["lastMessage"]["content"] == "Hello")
                }
            }
            #expect(try await endpoint.post("/conversations/\(group)/leave", ["deviceId": "d1"]).status == 200)
            for peer in [two, three] {
                let left = try await peer.receiveMessage(of: channel)
                #expect(left.type == "update_chat" && left.data["participants"] == ["user2", "user3"])
            }
            try await two.unsubscribe(channel)
            try await endpoint.send(2, "later", in: group)
            #expect(try await three.receiveMessage(of: channel).data["lastMessage"]["content"] == "later")
            try await two.expectNothing()
        }
    }

    @Test("Large backlogs of many simultaneous subscriptions arrive completely")
    func backlogs() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 0 }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let (count, content) = (40, String(repeating: "x", count: 1_500))
            for _ in 0..<count { try await endpoint.send(1, content, in: pair) }
            let peer = try await CablePeer.welcomed(at: endpoint, "?deviceId=d2")
            // Each subscription gets 60 KB of content, and its long identifier with each message.
            let identifiers = (0..<30).map {
                identifier(pair, #","after":0,"filler":"\#($0)\#(String(repeating: "y", count: 900))""#)
            }
            for identifier in identifiers { try await peer.subscribe(identifier) }
            var offsets: [String: [Int]] = [:]
            while offsets.values.reduce(0, { $0 + $1.count }) < identifiers.count * count {
                let message = try TestJSON(parsing: Array(try await peer.receive().utf8))
                guard let identifier = message["identifier"].string,
                    let offset = message["message"]["data"]["offset"].int
                else { continue }
                offsets[identifier, default: []].append(offset)
            }
            for identifier in identifiers { #expect(offsets[identifier] == Array(1...count)) }
        }
    }

    @Test("Many requested pages of history are sent at the client's pace")
    func histories() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemonOnUnixSocket { $0.cable.messageRate = 0 }
            try await endpoint.makeUsers(1...3)
            let (pair, other) = (
                try await endpoint.makeConversation(1, [2]), try await endpoint.makeConversation(2, [3])
            )
            // A page holds eight of them.
            let (length, count) = (12, 60)
            for _ in 0..<length { try await endpoint.send(1, String(repeating: "ü", count: 2_000), in: pair) }
            let cable = try await CablePeer.welcomed(at: endpoint, "?deviceId=d1")
            let identifiers = (0..<2).map { identifier(pair, #","n":\#($0)"#) }
            for identifier in identifiers { try await cable.enter(identifier) }
            let socket = try await WebSocketTestClient.connect(to: endpoint, "/conversations/socket?deviceId=d1")
            for _ in 0..<count {
                for identifier in identifiers {
                    try await cable.perform(["action": "history", "after": 0], identifier)
                }
                try await socket.send(
                    json: ["type": "history", "conversation": .string(pair.uuidString), "after": 0])
            }
            // During these requests, many of the messages could be read and sent.
            for number in 0..<30 { try await endpoint.send(2, "\(number)", in: other) }
            var received: [String: Int] = [:]
            while received.values.reduce(0, +) < identifiers.count * count {
                let message = try TestJSON(parsing: Array(try await cable.receive().utf8))
                guard message["message"]["type"] == "history", let identifier = message["identifier"].string else {
                    continue
                }
                #expect(message["message"]["data"]["messages"].array?.isEmpty == false)
                received[identifier, default: 0] += 1
            }
            for identifier in identifiers { #expect(received[identifier] == count) }
            var histories = 0
            while histories < count {
                if try await socket.nextMessage().json()["type"] == "history" { histories += 1 }
            }
        }
    }

    @Test("A message counts once against its rate limit")
    func rates() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 1 }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let (peer, mine) = (try await CablePeer.welcomed(at: endpoint, "?deviceId=d1"), identifier(pair))
            try await peer.enter(mine)
            // One of the ten allowed at once was already sent.
            for number in 1...8 {
                try await peer.perform(["action": "speak", "content": .string("\(number)")], mine)
                #expect(try await peer.receiveMessage(of: mine).data["offset"].int == number)
            }
        }
    }

    @Test("A device has one rate limit on all its connections")
    func namedDevice() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.cable.messageRate = 1 }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let mine = identifier(pair, #","deviceId":"d1""#)
            // Nine messages on each connection, which may send ten. The device may send a few more for each second that
            // this takes.
            for _ in 0..<20 {
                let peer = try await CablePeer.welcomed(at: endpoint)
                try await peer.enter(mine)
                do {
                    for _ in 0..<8 {
                        try await peer.perform(["action": "history", "after": 0], mine)
                        _ = try await peer.receiveMessage(of: mine)
                    }
                } catch let close as TestClose {
                    #expect(close.code == 1008 && close.reason == "more than 1 messages per second")
                    return
                }
            }
            Issue.record("Nobody is cut off")
        }
    }
}
