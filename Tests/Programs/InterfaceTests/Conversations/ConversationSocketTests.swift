import Access
import Foundation
import JourneyTestSupport
import Settings
import TestSupport
import Testing

/// Sockets that receive conversations, on one daemon and on two.
@Suite struct ConversationSocketTests {
    @Test(
        "The handshake has the name and the offsets of the conversations")
    func hearing() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...4)
            let pair = try await endpoint.makeConversation(1, [2])
            try await endpoint.send(1, "before", in: pair)
            let peers = [
                try await ConversationPeer.connect(to: endpoint, "d1"),
                try await ConversationPeer.connect(to: endpoint, "d2"),
                try await ConversationPeer.connect(to: endpoint, "d4"),
            ]
            let (handshake, id) = (peers[1].handshake, try #require(peers[1].handshake["id"].string))
            #expect(UUID(uuidString: id) != nil)
            #expect(handshake["user"] == "user2" && handshake["binding"] == "#.user2.#")
            #expect(handshake["offsets"] == .object([pair.uuidString: 1]))
            #expect(peers[2].handshake["offsets"] == .object([:]))
            try await peers[0].send([
                "type": "send", "content": "Hello", "conversation": .string(pair.uuidString), "ref": "r1",
            ])
            let received = try await peers[1].receive("message")
            #expect(received["routingKey"] == "user1.user2")
            #expect(received["message"]["content"] == "Hello" && received["message"]["author"] == "user1")
            #expect(received["message"]["conversation"].string == pair.uuidString && received["message"]["offset"] == 2)
            var own: [TestJSON] = []
            for _ in 0..<2 { own.append(try await peers[0].next()) }
            let sent = try #require(own.first { $0["type"] == "sent" })
            #expect(sent["ref"] == "r1" && sent["ids"] == .array([received["message"]["id"]]))
            #expect(own.contains { $0["message"] == received["message"] })
            // Participants also receive messages of a conversation that was created later.
            let group = try await endpoint.makeConversation(2, [3, 4])
            try await endpoint.send(3, "to three", in: group)
            for peer in peers[1...] { #expect(try await peer.receive("message")["message"]["offset"] == 1) }
            try await peers[0].expectNothing()
        }
    }

    @Test("An error has the ref of its command and keeps the socket open")
    func commands() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let pair = try await endpoint.makeConversation(1, [2])
            let foreign = try await endpoint.makeConversation(2, [3])
            for number in 1...5 { try await endpoint.send(1, "\(number)", in: pair) }
            let peer = try await ConversationPeer.connect(to: endpoint, "d1")
            for (message, code) in [
                ([:], "invalid_request"), (["type": "x", "ref": "1"], "invalid_request"),
                (["type": "send", "ref": "1", "content": " ", "conversation": "x"], "invalid_request"),
                (["type": "send", "ref": "1", "content": "x"], "invalid_request"),
                (
                    ["type": "send", "ref": "1", "content": "x", "conversation": .string(foreign.uuidString)],
                    "no_such_conversation"
                ),
                (["type": "send", "ref": "1", "content": "x", "routingKey": "nobody"], "no_such_user"),
                (["type": "history", "ref": "1", "conversation": .string(foreign.uuidString)], "no_such_conversation"),
            ] as [(TestJSON, String)] {
                try await peer.send(message)
                let error = try await peer.receive("error")
                #expect(error["code"].string == code && error["ref"] == message["ref"], "\(message)")
            }
            try await peer.socket.send(text: "no JSON")
            #expect(try await peer.receive("error")["ref"].isAbsent)
            try await peer.send([
                "type": "history", "conversation": .string(pair.uuidString), "after": 2, "limit": 2, "ref": "h",
            ])
            let history = try await peer.receive("history")
            #expect(history["ref"] == "h" && history["lastOffset"] == 5)
            #expect(history["messages"].array?.map { $0["offset"] } == [3, 4])
            // One message for several conversations, and one by a routing key.
            try await peer.send(["type": "send", "content": "key", "routingKey": "user3.user2", "ref": "k"])
            #expect(try await peer.await("sent")["ids"].array?.count == 1)
        }
    }

    @Test("A client that reconnects gets missed messages once and in order", arguments: [1, 2])
    func resuming(_ daemons: Int) async throws {
        try await Journey.run { journey in
            var endpoints: [ClientEndpoint] = []
            for _ in 0..<daemons { endpoints.append(try await journey.daemon()) }
            let (first, last) = (endpoints[0], endpoints[daemons - 1])
            try await first.makeUsers(1...3)
            let pair = try await first.makeConversation(1, [2])
            let group = try await first.makeConversation(1, [2, 3])
            for number in 1...150 { try await first.send(1, "\(number)", in: number % 3 == 0 ? group : pair) }
            let peer = try await ConversationPeer.connect(to: last, "d2", after: [pair: 20, group: 0])
            let live = Task {
                for number in 151...180 { try await first.send(1, "\(number)", in: number % 3 == 0 ? group : pair) }
            }
            var received: [String: [Int]] = [:]
            for _ in 0..<(130 - 20 + 30 + 20) {
                let message = try await peer.receive("message")["message"]
                received[message["conversation"].string ?? "", default: []].append(message["offset"].int ?? 0)
            }
            try await live.value
            #expect(received[pair.uuidString] == Array(21...120))
            #expect(received[group.uuidString] == Array(1...60))
            try await peer.expectNothing()
        }
    }

    @Test(
        "Each offset arrives once and in order, even with a hundred random cuts"
    )
    func cuts() async throws {
        try await Journey.run { journey in
            var endpoints: [ClientEndpoint] = []
            for _ in 0..<2 { endpoints.append(try await journey.daemon { $0.cable.messageRate = 0 }) }
            let daemons = endpoints
            try await daemons[0].makeUsers(1...3)
            let group = try await daemons[0].makeConversation(1, [2, 3])
            let (count, cuts) = (1_000, 100)
            let sending = Task { try await ClientEndpoint.sendFromTwoUsers(count, in: group, at: daemons) }
            var random = SeededRandom(seed: 1)
            // The numbers of the messages after which the connection is cut.
            var places = Set<Int>()
            while places.count < cuts { places.insert(Int.random(in: 1..<count, using: &random)) }
            var offsets: [Int] = []
            for (number, place) in (places.sorted() + [count]).enumerated() {
                let peer = try await ConversationPeer.connect(
                    to: daemons[number % 2], "d3", after: [group: offsets.last ?? 0])
                while offsets.count < place {
                    offsets.append(try await peer.receive("message")["message"]["offset"].int ?? 0)
                }
                // The connection ends without a close frame, like a phone's.
                await peer.socket.close()
            }
            try await sending.value
            #expect(offsets == Array(1...count))
        }
    }

    @Test("Messages stored while a daemon can't read them arrive later")
    func outage() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            try await one.makeUsers(1...2)
            let pair = try await one.makeConversation(1, [2])
            let peers = [
                try await ConversationPeer.connect(to: one, "d2"), try await ConversationPeer.connect(to: other, "d2"),
            ]
            for number in 1...10 {
                try await journey.sql(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND query LIKE '%LISTEN%' AND pid <> pg_backend_pid()
                    """)
                // The request's own connection may have been ended too, so it is repeated.
                try await eventually("a message") { try await one.send(1, "\(number)", in: pair).status == 201 }
                for peer in peers { #expect(try await peer.receive("message")["message"]["offset"].int == number) }
            }
        }
    }

    @Test("A client that left receives no more, and an erased one is disconnected")
    func ends() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let group = try await endpoint.makeConversation(1, [2, 3])
            let peers = [
                try await ConversationPeer.connect(to: endpoint, "d2"),
                try await ConversationPeer.connect(to: endpoint, "d3"),
            ]
            #expect(try await endpoint.post("/conversations/\(group)/leave", ["deviceId": "d3"]).status == 200)
            for peer in peers {
                let left = try await peer.receive("left")
                #expect(left["conversation"].string == group.uuidString && left["user"] == "user3")
                #expect(left["participants"] == ["user1", "user2"])
            }
            // The user has already left, so nobody is notified again.
            #expect(try await endpoint.post("/conversations/\(group)/leave", ["deviceId": "d3"]).status == 200)
            try await endpoint.send(1, "to those who stay", in: group)
            try await peers[0].receive("message")
            try await peers[1].expectNothing()
            let erased = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=d2")
            #expect(erased.status == 200)
            try await peers[0].socket.expectClose(1000)
            try await endpoint.send(1, "to nobody", in: group)
            let refused = try await WebSocketTestClient.refusal(at: endpoint, "/conversations/socket?deviceId=d2")
            #expect(refused.status == 409 && refused.code == "name_required")
        }
    }

    @Test("Departures and erasures are reported on every daemon")
    func leaving() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            try await one.makeUsers(1...3)
            let group = try await one.makeConversation(1, [2, 3])
            let peer = try await ConversationPeer.connect(to: other, "d1")
            let stream = try await EventStreamTestClient.connect(to: other, "/messages?deviceId=d1&after=\(group):0")
            _ = try await stream.nextComment()
            // The user then receives the conversation's messages.
            try await other.send(1, "Hello", in: group)
            _ = try await stream.nextEvent()
            try await peer.receive("message")
            #expect(try await one.post("/conversations/\(group)/leave", ["deviceId": "d3"]).status == 200)
            #expect(try await peer.receive("left")["participants"] == ["user1", "user2"])
            let event = try await stream.nextEvent()
            #expect(event.event == "left" && event.data.contains(#""user":"user3""#))
            #expect(try await HTTPTestClient.request(at: one, "DELETE", "/device?deviceId=d2").status == 200)
            let left = try await peer.receive("left")
            #expect(left["user"] == "user2" && left["participants"] == ["user1"])
            await stream.close()
        }
    }

    @Test("Presence is sent to new members and after each change")
    func presence() async throws {
        try await Journey.run { journey in
            var endpoints: [ClientEndpoint] = []
            for _ in 0..<2 { endpoints.append(try await journey.daemon { $0.presenceGrace = .milliseconds(100) }) }
            try await endpoints[0].makeUsers(1...4)
            let group = try await endpoints[0].makeConversation(1, [2, 3])
            let alone = try await endpoints[0].makeConversation(1, [4])
            let one = try await ConversationPeer.connect(to: endpoints[0], "d1")
            let two = try await ConversationPeer.connect(to: endpoints[1], "d2")
            for peer in [one, two] {
                #expect(try await peer.awaitPresence(of: 2, in: group) == ["user1", "user2"])
            }
            let three = try await CablePeer.welcomed(at: endpoints[1], "?deviceId=d3")
            let channel = #"{"channel":"ConversationChannel","id":"\#(group)","presence":true}"#
            try await three.enter(channel)
            let presence = try await three.receiveMessage(of: channel)
            #expect(presence.type == "presence" && presence.data["users"] == ["user1", "user2", "user3"])
            #expect(presence.data["count"] == 3 && presence.data["conversation"].string == group.uuidString)
            for peer in [one, two] {
                #expect(try await peer.awaitPresence(of: 3, in: group) == ["user1", "user2", "user3"])
            }
            try await three.unsubscribe(channel)
            for peer in [one, two] { _ = try await peer.awaitPresence(of: 2, in: group) }
            // A second socket of the same user doesn't change the number of users.
            let again = try await ConversationPeer.connect(to: endpoints[0], "d2")
            #expect(try await again.awaitPresence(of: 2, in: group) == ["user1", "user2"])
            let four = try await ConversationPeer.connect(to: endpoints[0], "d4")
            #expect(try await four.awaitPresence(of: 2, in: alone) == ["user1", "user4"])
            #expect(try await one.awaitPresence(of: 2, in: alone) == ["user1", "user4"])
            try await two.socket.expectNothing()
        }
    }

    @Test("A client that returns within the grace period is never reported as absent")
    func grace() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.presenceGrace = .seconds(3_600) }
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            let one = try await ConversationPeer.connect(to: endpoint, "d1")
            var two = try await ConversationPeer.connect(to: endpoint, "d2")
            _ = try await one.awaitPresence(of: 2, in: pair)
            await two.socket.close()
            two = try await ConversationPeer.connect(to: endpoint, "d2")
            #expect(try await two.awaitPresence(of: 2, in: pair) == ["user1", "user2"])
            try await one.socket.expectNothing()
        }
    }

    @Test("A daemon reads only conversations with subscribers on it")
    func reading() async throws {
        try await Journey.run { journey in
            let (one, other) = (try await journey.daemon(), try await journey.daemon())
            try await one.makeUsers(1...4)
            let (pair, others) = (try await one.makeConversation(1, [2]), try await one.makeConversation(3, [4]))
            // The witness shows that no report came: it receives what was sent later.
            let witness = try await ConversationPeer.connect(to: other, "d4")
            for number in 1...20 { try await one.send(1, "\(number)", in: pair) }
            try await one.send(3, "last", in: others)
            #expect(try await witness.receive("message")["message"]["content"] == "last")
            let reads = try await MetricsReading(other)["letsswitch_db_query_seconds_count{name=\"list_messages\"}"]
            // The witness's query, and one for the conversation's creation if the daemon was notified of it late.
            #expect((1...2).contains(reads))
        }
    }

    @Test("A socket needs a device, a name and valid offsets")
    func interfaces() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            for (query, status, code) in [
                ("", 400, "invalid_request"), ("deviceId=x", 409, "name_required"),
                ("deviceId=d1&after=x", 400, "invalid_request"),
                ("deviceId=d1&after=\(pair):-1", 400, "invalid_request"),
            ] {
                let refused = try await WebSocketTestClient.refusal(at: endpoint, "/conversations/socket?\(query)")
                #expect(refused.status == status && refused.code == code, "\(query)")
            }
            #expect(try await endpoint.get("/conversations/socket?deviceId=d1").status == 426)
            #expect(try await WebSocketTestClient.refusal(at: endpoint, "/socket?id=\(pair)").status == 404)
            let hasty = try await ConversationPeer.connect(to: endpoint, "d1")
            for _ in 0..<300 { try? await hasty.socket.send(text: "{}") }
            try await hasty.socket.expectClose(1008, passingOver: true)
        }
    }

    @Test("A client whose name has changed at the daemon gets the new name")
    func renamed() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            try await ConversationPeer.connect(to: endpoint, "d2").socket.close()
            // Simulates an erasure and a new registration on another daemon, of which this daemon wasn't notified.
            _ = try await journey.sql("UPDATE conversations.chat_user SET name = 'other' WHERE name = 'user2'")
            let peer = try await ConversationPeer.connect(to: endpoint, "d2")
            #expect(peer.handshake["user"] == "other" && peer.handshake["binding"] == "#.other.#")
            try await endpoint.send(1, "Hello", in: pair)
            #expect(try await peer.receive("message")["routingKey"] == "other.user1")
        }
    }
}
