import Conversations
import Domain
import Foundation
import JourneyTestSupport
import Postgres
import Settings
import TestSupport
import Testing

@testable import Access

/// Each route of conversations and each of its errors, over HTTP.
@Suite struct ConversationRoutesTests {
    @Test("A name can be taken only once")
    func users() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            for (device, name, status, code) in [
                ("d1", "user1", 201, nil), ("d1", "user1", 200, nil), ("d1", "user2", 409, "has_name"),
                ("d2", "user1", 409, "name_taken"), ("d2", "", 400, "invalid_request"),
                ("d2", "a.b", 400, "invalid_request"), ("d2", "é", 400, "invalid_request"),
                ("d2", String(repeating: "a", count: 33), 400, "invalid_request"),
                ("", "user3", 400, "invalid_request"), ("d2", "User1", 201, nil),
            ] as [(String, String, Int, String?)] {
                let response = try await endpoint.post("/users", ["deviceId": .string(device), "name": .string(name)])
                #expect(response.status == status && response.code == code, "\(device) \(name)")
            }
            #expect(try await endpoint.get("/users?deviceId=d1").text == #"{"users":["User1","user1"]}"#)
            #expect(try await endpoint.get("/users?deviceId=d1&prefix=u").text == #"{"users":["user1"]}"#)
            #expect(try await endpoint.get("/users?deviceId=d1&prefix=*").code == "invalid_request")
            #expect(try await endpoint.get("/users").code == "invalid_request")
        }
    }

    @Test("A conversation is created once and listed")
    func conversations() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...3)
            let made = try await endpoint.post("/conversations", ["deviceId": "d2", "participants": ["user1"]])
            let id = try #require(try made.json()["id"].string)
            let text = { (offset: Int, read: Int, last: String) in
                #"{"id":"\#(id)","name":"user1,user2","type":"person","participants":["user1","user2"],"lastOffset":\#(offset)"#
                    + last + #","readOffset":\#(read),"muted":false}"#
            }
            #expect(made.status == 201 && made.text == text(0, 0, ""))
            let again = try await endpoint.post("/conversations", ["deviceId": "d1", "participants": ["user2"]])
            #expect(again.status == 200 && again.text == made.text)
            let message = UUID().uuidString
            let sent = try await endpoint.post(
                "/messages",
                ["deviceId": "d1", "content": "Tea?", "conversation": .string(id), "id": .string(message)])
            let date = try #require(try sent.json()["messages"][0]["date"].string)
            let json =
                #"{"id":"\#(message)","content":"Tea?","author":"user1","date":"\#(date)","conversation":"\#(id)","offset":1}"#
            #expect(sent.status == 201 && sent.text == #"{"messages":[\#(json)]}"#)
            let repeated = try await endpoint.post(
                "/messages",
                ["deviceId": "d1", "content": "Tea?", "conversation": .string(id), "id": .string(message)])
            #expect(repeated.status == 200 && repeated.text == sent.text)
            let list = try await endpoint.get("/conversations?deviceId=d2")
            #expect(list.text == #"{"conversations":[\#(text(1, 0, #","lastMessage":"# + json))]}"#)
            #expect(try await endpoint.get("/conversations?deviceId=d2&before=\(id)").text == #"{"conversations":[]}"#)
            let page = try await endpoint.get("/conversations/\(id)/messages?deviceId=d2")
            #expect(page.text == #"{"messages":[\#(json)],"lastOffset":1}"#)
            let before = try await endpoint.get("/conversations/\(id)/messages?deviceId=d2&before=1")
            #expect(before.text == #"{"messages":[],"lastOffset":1}"#)
            let read = try await endpoint.post("/conversations/\(id)/read", ["deviceId": "d2", "offset": 1])
            #expect(read.text == text(1, 1, #","lastMessage":"# + json))
            let muted = try await endpoint.post("/conversations/\(id)/mute", ["deviceId": "d2", "muted": true])
            #expect(try muted.json()["muted"] == true)
        }
    }

    @Test("Invalid, foreign and unknown input is refused with its code")
    func refusals() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.conversations.perDevice = 2 }
            try await endpoint.makeUsers(1...4)
            let pair = try await endpoint.makeConversation(1, [2])
            let (here, nowhere) = (TestJSON.string(pair.uuidString), TestJSON.string(UUID().uuidString))
            let many = TestJSON.array((0..<21).map { _ in .string(UUID().uuidString) })
            for (target, body, status, code) in [
                ("conversations", ["participants": ["user1"]], 400, "invalid_request"),
                ("conversations", ["deviceId": "d1"], 400, "invalid_request"),
                ("conversations", ["deviceId": "d1", "participants": []], 400, "invalid_request"),
                ("conversations", ["deviceId": "d1", "participants": ["user1"]], 400, "invalid_request"),
                ("conversations", ["deviceId": "d1", "participants": ["x y"]], 400, "invalid_request"),
                ("conversations", ["deviceId": "d1", "participants": ["user9"]], 404, "no_such_user"),
                ("conversations", ["deviceId": "d1", "participants": ["user2"], "id": "x"], 400, "invalid_request"),
                ("conversations", ["deviceId": "d9", "participants": ["user1"]], 409, "name_required"),
                ("messages", ["deviceId": "d1", "content": "x"], 400, "invalid_request"),
                ("messages", ["deviceId": "d1", "content": " ", "conversation": here], 400, "invalid_request"),
                ("messages", ["deviceId": "d1", "conversation": here], 400, "invalid_request"),
                (
                    "messages",
                    ["deviceId": "d1", "content": .string(String(repeating: "x", count: 2_001)), "conversation": here],
                    400, "invalid_request"
                ),
                ("messages", ["deviceId": "d1", "content": "x", "conversations": many], 400, "invalid_request"),
                (
                    "messages", ["deviceId": "d1", "content": "x", "conversations": [here, here]], 400,
                    "invalid_request"
                ),
                (
                    "messages", ["deviceId": "d1", "content": "x", "conversation": here, "routingKey": "user2"], 400,
                    "invalid_request"
                ),
                ("messages", ["deviceId": "d1", "content": "x", "routingKey": "a..b"], 400, "invalid_request"),
                ("messages", ["deviceId": "d1", "content": "x", "routingKey": "nobody"], 404, "no_such_user"),
                ("messages", ["deviceId": "d3", "content": "x", "conversation": here], 404, "no_such_conversation"),
                (
                    "messages", ["deviceId": "d1", "content": "x", "conversations": [here, nowhere]], 404,
                    "no_such_conversation"
                ),
                ("conversations/\(pair)/read", ["deviceId": "d3", "offset": 1], 404, "no_such_conversation"),
                ("conversations/\(pair)/read", ["deviceId": "d1"], 400, "invalid_request"),
                ("conversations/\(pair)/mute", ["deviceId": "d1", "muted": 1], 400, "invalid_request"),
                ("conversations/x/leave", ["deviceId": "d1"], 400, "invalid_request"),
            ] as [(String, TestJSON, Int, String?)] {
                let response = try await endpoint.post("/\(target)", body)
                #expect(response.status == status && response.code == code, "\(target) \(body)")
            }
            for (target, status, code) in [
                ("conversations/\(pair)/messages?deviceId=d3", 404, "no_such_conversation"),
                ("conversations/\(pair)/messages?deviceId=d1&after=x", 400, "invalid_request"),
                ("conversations/\(pair)/messages?deviceId=d1&limit=0", 400, "invalid_request"),
                ("conversations?deviceId=d1&before=x", 400, "invalid_request"),
                ("conversations?deviceId=d9", 409, "name_required"),
                ("conversations?deviceId=", 400, "invalid_request"),
                ("messages?deviceId=d9", 409, "name_required"),
            ] {
                let response = try await endpoint.get("/\(target)")
                #expect(response.status == status && response.code == code, "\(target)")
            }
            #expect(try await journey.sql("SELECT FROM conversations.message").isEmpty)
            _ = try await endpoint.makeConversation(1, [3])
            let full = try await endpoint.post("/conversations", ["deviceId": "d1", "participants": ["user4"]])
            #expect(full.status == 429 && full.code == "too_many_conversations")
        }
    }

    @Test("Partners who both ask for a conversation get one")
    func partners() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let startsAt = Instant(seconds: Int(Date().timeIntervalSince1970) + 3_600).description
            var tasks: [String] = []
            for user in 1...2 {
                let made = try await endpoint.post(
                    "/task", ["deviceId": "d\(user)", "title": "x", "startsAt": .string(startsAt)])
                tasks.append(try #require(try made.json()["id"].string))
            }
            let asked = { (user: Int) in
                try await endpoint.post("/task/\(tasks[user - 1])/conversation", ["deviceId": "d\(user)"])
            }
            #expect(try await asked(1).code == "name_required")
            try await endpoint.makeUsers(1...2)
            let stream = try await EventStreamTestClient.connect(to: endpoint, "/reminders?deviceId=d2")
            _ = try await stream.nextComment()
            let first = try await asked(1)
            #expect(first.status == 202 && first.text == #"{"asked":true,"partnerAsked":false}"#)
            #expect(try await stream.nextEvent().event == "schedule")
            await stream.close()
            let look = try await endpoint.get("/task/\(tasks[1])/conversation?deviceId=d2")
            #expect(look.status == 200 && look.text == #"{"asked":false,"partnerAsked":true}"#)
            let second = try await asked(2)
            #expect(second.status == 201)
            #expect(try second.json()["conversation"]["participants"] == ["user1", "user2"])
            let again = try await asked(1)
            #expect(again.status == 200 && again.text == second.text)
            for (target, code) in [
                ("/task/\(UUID())/conversation?deviceId=d1", "no_such_task"),
                ("/task/x/conversation?deviceId=d1", "invalid_request"),
                ("/task/\(tasks[0])/conversation", "invalid_request"),
            ] {
                #expect(try await endpoint.get(target).code == code, "\(target)")
            }
        }
    }

    @Test("A block is listed only to its owner until it is undone")
    func blocks() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let made = try await endpoint.post("/blocks", ["deviceId": "d1", "name": "user2"])
            let (id, date) = (
                try #require(try made.json()["id"].string), try #require(try made.json()["blockedAt"].string)
            )
            #expect(made.status == 201 && made.text == #"{"id":"\#(id)","name":"user2","blockedAt":"\#(date)"}"#)
            let again = try await endpoint.post("/blocks", ["deviceId": "d1", "name": "user2"])
            #expect(again.status == 200 && again.text == made.text)
            let response = try await endpoint.post(
                "/messages", ["deviceId": "d2", "content": "x", "routingKey": "user1"])
            #expect(response.status == 403 && response.code == "blocked")
            for (body, status, code) in [
                (["deviceId": "d1", "name": "nobody"], 404, "no_such_user"),
                (["deviceId": "d1"], 400, "invalid_request"),
                (["deviceId": "d1", "taskId": "x"], 400, "invalid_request"),
                (["deviceId": "d1", "taskId": .string(UUID().uuidString)], 404, "no_such_task"),
                (["deviceId": "d9", "name": "user1"], 409, "name_required"),
            ] as [(TestJSON, Int, String)] {
                let response = try await endpoint.post("/blocks", body)
                #expect(response.status == status && response.code == code, "\(body)")
            }
            #expect(try await endpoint.get("/blocks?deviceId=d1").text == #"{"blocks":[\#(made.text)]}"#)
            #expect(try await endpoint.get("/blocks?deviceId=d2").text == #"{"blocks":[]}"#)
            for (target, status) in [
                ("\(id)?deviceId=d2", 404), ("x?deviceId=d1", 400), ("\(id)?deviceId=d1", 200),
                ("\(id)?deviceId=d1", 404),
            ] {
                let response = try await HTTPTestClient.request(at: endpoint, "DELETE", "/blocks/\(target)")
                #expect(response.status == status, "\(target)")
            }
            let later = try await endpoint.post("/messages", ["deviceId": "d2", "content": "x", "routingKey": "user1"])
            #expect(later.status == 201)
        }
    }

    @Test("curl's stream receives missed messages and then new ones")
    func stream() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            try await endpoint.makeUsers(1...2)
            let pair = try await endpoint.makeConversation(1, [2])
            try await endpoint.send(1, "missed", in: pair)
            let stream = try await EventStreamTestClient.connect(to: endpoint, "/messages?deviceId=d2&after=\(pair):0")
            _ = try await stream.nextComment()
            for (number, content) in ["missed", "live"].enumerated() {
                if number == 1 { try await endpoint.send(1, content, in: pair) }
                let event = try await stream.nextEvent()
                #expect(event.event == "message")
                let json = try TestJSON(parsing: Array(event.data.utf8))
                #expect(json["routingKey"] == "user1.user2" && json["message"]["content"].string == content)
            }
            await stream.close()
        }
    }

    @Test(
        "A ticket for one conversation permits no other")
    func tickets() async throws {
        try await Journey.run { journey in
            let secret = String(repeating: "s", count: 40)
            let endpoint = try await journey.daemon {
                $0.tickets.secrets = [TicketSecret(secret)].compactMap { $0 }
            }
            try await endpoint.makeUsers(1...3)
            let pairs = [try await endpoint.makeConversation(1, [2]), try await endpoint.makeConversation(1, [3])]
            var settings = TicketSettings()
            settings.secrets = [TicketSecret(secret)].compactMap { $0 }
            func makeTicket(of device: String, for topic: String) throws -> String {
                try TicketOrder(
                    device: DeviceID(device), lifetime: .seconds(60), topics: [TopicPattern(topic)]
                ).token(settings, at: Int64(Date().timeIntervalSince1970))
            }
            for (topic, status) in [("conversation:\(pairs[0])", 403), ("questions:*", 403), ("conversation:*", 201)] {
                let token = try makeTicket(of: "d4", for: topic)
                #expect(
                    try await endpoint.post("/users?token=\(token)", ["name": "user4"]).status == status, "\(topic)")
            }
            let ticket = try makeTicket(of: "d1", for: "conversation:\(pairs[0])")
            func send(_ to: [String: TestJSON]) async throws -> TestResponse {
                try await endpoint.post(
                    "/messages?token=\(ticket)", .object(["content": "x"].merging(to) { $1 }))
            }
            #expect(try await send(["conversation": .string(pairs[0].uuidString)]).status == 201)
            #expect(try await send(["conversation": .string(pairs[1].uuidString)]).code == "topic_not_allowed")
            #expect(try await send(["routingKey": "user2"]).code == "topic_not_allowed")
            let list = try await endpoint.get("/conversations?token=\(ticket)").json()["conversations"].array ?? []
            #expect(list.map { $0["id"].string } == [pairs[0].uuidString])
            let strict = try await journey.daemon {
                $0.tickets.secrets = [TicketSecret(secret)].compactMap { $0 }
                $0.tickets.areRequired = true
            }
            #expect(try await strict.get("/conversations?deviceId=d1").code == "ticket_required")
            #expect(try await strict.get("/conversations?token=\(ticket)").status == 200)
        }
    }
}
