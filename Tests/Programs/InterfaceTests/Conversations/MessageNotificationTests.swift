import Crypto
import Foundation
import JourneyTestSupport
import Notifications
import Server
import Settings
import TestSupport
import Testing
import Wire

/// Notifications of messages to absent users, by the providers of reminders.
@Suite struct MessageNotificationTests {
    private func ntfy(_ url: String) -> (inout Configuration) -> Void {
        {
            $0.providers.publicURL = "https://example.org"
            $0.providers.ntfy.server = url
        }
    }

    /// Returns the next notification for a device's topic.
    private func next(_ topic: TestJSON, at recorder: HTTPRecorder) async throws -> TestJSON {
        try await recorder.requests.next("a notification") { (try? $0.json()["topic"]) == topic }.json()
    }

    private func advance(_ journey: Journey, _ seconds: Int) async throws {
        try await journey.move(by: Double(seconds))
        // Timers are the daemons' own.
        try await journey.sql("SELECT pg_notify('letsswitch_deliveries', 'ntfy')")
    }

    @Test(
        "An absent participant is notified at once, and then once a minute")
    func gathered() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let endpoint = try await journey.daemon(ntfy(recorder.url()))
                try await endpoint.makeUsers(1...3)
                let topic = try await endpoint.post("/ntfy", ["deviceId": "d2"]).json()["topic"]
                let group = try await endpoint.makeConversation(1, [2, 3])
                try await endpoint.send(1, "secret words", in: group)
                let first = try await next(topic, at: recorder)
                #expect(first["title"] == "user1" && first["message"] == "1 new message")
                #expect(first["click"].string == "https://example.org/conversations#\(group.uuidString)")
                for number in 1...20 { try await endpoint.send(number % 2 == 0 ? 1 : 3, "\(number)", in: group) }
                #expect(try await journey.count("core.delivery") == 1, "they wait for the minute")
                try await advance(journey, 61)
                let second = try await next(topic, at: recorder)
                #expect(second["title"] == "user3 and user1" && second["message"] == "20 new messages")
                // Its own messages and those it has read cause no notification.
                try await endpoint.send(2, "mine", in: group)
                try await endpoint.send(1, "read", in: group)
                let read = try await endpoint.post(
                    "/conversations/\(group.uuidString)/read", ["deviceId": "d2", "offset": 23])
                #expect(read.status == 200)
                try await advance(journey, 61)
                try await journey.wait(until: "NOT EXISTS (SELECT FROM core.delivery)")
                try await endpoint.send(1, "new", in: group)
                try await advance(journey, 61)
                #expect(try await next(topic, at: recorder)["message"] == "1 new message")
                #expect(!recorder.requests.all.contains { String(decoding: $0.body, as: UTF8.self).contains("secret") })
            }
        }
    }

    @Test(
        "Only absent participants that want notifications get them")
    func silent() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let endpoints = [
                    try await journey.daemon(ntfy(recorder.url())), try await journey.daemon(ntfy(recorder.url())),
                ]
                let endpoint = endpoints[0]
                try await endpoint.makeUsers(1...5)
                var topics: [TestJSON] = []
                for device in ["d2", "d3", "d4", "d5"] {
                    topics.append(try await endpoint.post("/ntfy", ["deviceId": .string(device)]).json()["topic"])
                }
                // A member that blocks the maker would leave the group.
                let group = try await endpoint.makeConversation(5, [1, 2, 3, 4])
                for (device, action) in [("d3", "mute"), ("d4", "leave")] {
                    let answer = try await endpoint.post(
                        "/conversations/\(group.uuidString)/\(action)", ["deviceId": .string(device), "muted": true])
                    #expect(answer.status == 200, "\(action)")
                }
                #expect(try await endpoint.post("/blocks", ["deviceId": "d5", "name": "user1"]).status == 201)
                let peer = try await ConversationPeer.connect(to: endpoints[1], "d2")
                try await journey.wait(until: "EXISTS (SELECT FROM conversations.connected_user)")
                try await endpoint.send(1, "first", in: group)
                // Skips the notification of the leave, which the daemon may get only now.
                #expect(try await peer.await("message")["message"]["content"] == "first")
                #expect(try await journey.count("core.delivery") == 0)
                await peer.socket.close()
                try await journey.wait(until: "NOT EXISTS (SELECT FROM conversations.connected_user)")
                try await endpoint.send(1, "second", in: group)
                #expect(try await next(topics[0], at: recorder)["message"] == "1 new message")
                // The user is notified of a message by another user, who isn't blocked.
                try await endpoint.send(2, "third", in: group)
                let message = try await next(topics[3], at: recorder)
                #expect(message["title"] == "user2" && message["message"] == "1 new message")
                #expect(Set(recorder.requests.all.compactMap { try? $0.json()["topic"].string }).count == 2)
            }
        }
    }

    @Test("Only Web Push has the text of messages")
    func words() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
                let endpoint = try await journey.daemon { configuration in
                    configuration.providers.webPush.contact = "mailto:ops@example.org"
                    configuration.providers.webPush.allowsPrivateAddresses = true
                    configuration.providers.webhook.url = recorder.url("/hook")
                    configuration.providers.webhook.secrets = [secret]
                }
                try await endpoint.makeUsers(1...2)
                let browser = try WebPushReceiver()
                let subscribed = try await endpoint.post(
                    "/push/subscription",
                    ["deviceId": "d2", "subscription": browser.subscription(recorder.url("/hook/browser"))])
                #expect(subscribed.status == 200)
                let pair = try await endpoint.makeConversation(1, [2])
                try await endpoint.send(1, "Tea?", in: pair)
                let pushed = try await recorder.requests.next("a push") { $0.target == "/hook/browser" }
                let shown = try TestJSON(parsing: browser.decrypt(pushed.body))
                #expect(shown["type"] == "messages" && shown["conversation"].string == pair.uuidString)
                #expect(shown["messages"] == [["author": "user1", "content": "Tea?"]])
                let hooked = try await recorder.requests.next("the webhook") { asked in
                    asked.target == "/hook" && (try? asked.json()["type"]) == "messages"
                }
                let data = try hooked.json()["data"]
                #expect(data["authors"] == ["user1"] && data["count"] == 1 && data["name"] == "user1,user2")
                #expect(data["person"].string?.count == 32 && data["messages"].isAbsent)
            }
        }
    }

    @Test("After a daemon was killed, its clients count as absent")
    func killed() async throws {
        try await HTTPRecorder.run { recorder in
            try await Journey.run { journey in
                let (first, listening) = try await journey.process()
                try await listening.makeUsers(1...2)
                let peer = try await ConversationPeer.connect(to: listening, "d2")
                try await journey.wait(until: "EXISTS (SELECT FROM conversations.connected_user)")
                await first.process.signal(SIGKILL)
                _ = try await first.process.waitForExit()
                await peer.socket.close()
                let endpoint = try await journey.daemon(ntfy(recorder.url()))
                let topic = try await endpoint.post("/ntfy", ["deviceId": "d2"]).json()["topic"]
                try await advance(journey, 60)
                try await endpoint.send(1, "x", in: try await endpoint.makeConversation(1, [2]))
                #expect(try await next(topic, at: recorder)["message"] == "1 new message")
            }
        }
    }
}
