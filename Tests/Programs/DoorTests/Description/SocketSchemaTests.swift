import Foundation
import JourneyTestSupport
import Messaging
import Settings
import TestSupport
import Testing

@testable import APIDescription

/// Messages on WebSockets match `/schemas/…`, according to `jsonschema`, which comes with openapi-spec-validator.
@Suite(
    .enabled(if: TestBroker.isWanted, "they are of the long tests: make interop-openapi"),
    .enabled(if: PythonPackages.ofOpenAPI.areInstalled, "\(PythonPackages.ofOpenAPI.hint)"))
struct SocketSchemaTests {
    /// Returns the messages received until each of these types has arrived.
    private func hear(_ socket: WebSocketTestClient, _ types: Set<String>) async throws -> [TestJSON] {
        var heard: [TestJSON] = []
        while !types.isSubset(of: heard.compactMap { $0["type"].string }) {
            heard.append(try await socket.nextMessage().json())
        }
        return heard
    }

    private func say(_ message: TestJSON, _ socket: WebSocketTestClient) async throws -> TestJSON {
        try await socket.send(text: String(decoding: message.encoded(), as: UTF8.self))
        return message
    }

    /// Returns the validation errors of the messages, by their sender.
    private func complaints(_ name: String, _ messages: [String: [TestJSON]], _ endpoint: ClientEndpoint) async throws
        -> TestJSON
    {
        let schema = try await endpoint.get("/schemas/\(name).json").json()
        let program = """
            import json, sys
            from jsonschema import Draft202012Validator
            told = json.loads(sys.stdin.readline())
            Draft202012Validator.check_schema(told["schema"])
            print(json.dumps([
                f"{message}: {error.message}" for who, messages in told["messages"].items() for message in messages
                for error in Draft202012Validator({**told["schema"], "anyOf": [{"$ref": f"#/$defs/{who}"}]}).iter_errors(message)]))
            """
        return try await PythonPackages.ofOpenAPI.run(
            program, ["schema": schema, "messages": .object(messages.mapValues { .array($0) })])
    }

    @Test("Messages of rooms match their schemas") func ale() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.openRooms = true }
            let room = UUID()
            let (first, second) = (
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)&presence=true"),
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)")
            )
            let said = [try await say(["type": "ale", "id": .string(room.uuidString)], second)]
            var heard = try await hear(first, ["handshake", "presence", "aleResponse"])
            _ = try await say(["type": "nonsense"], second)
            heard += try await hear(second, ["error"])
            #expect(try await complaints("ale", ["server": heard, "client": said], endpoint) == [])
            // The validator detects wrong messages.
            #expect(try await complaints("ale", ["server": said, "client": []], endpoint).array?.isEmpty == false)
        }
    }

    @Test("Messages of question sessions match their schemas") func questions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.openQuestions = true }
            let session = QuestionSession.open.id
            let socket = try await WebSocketTestClient.connect(
                to: endpoint, "/questions/\(session)/socket?deviceId=ada&live=true")
            var heard = try await hear(socket, ["handshake", "questions", "session", "presence"])
            let id = try #require(heard.first { $0["type"] == "handshake" }?["id"].string)
            var said = [try await say(["type": "newQuestion", "id": .string(id), "content": "Why?"], socket)]
            heard += try await hear(socket, ["questionResponse", "question"])
            let question = heard.first { $0["type"] == "question" }?["question"]["id"] ?? .absent
            said.append(try await say(["type": "vote", "questionId": question], socket))
            _ = try await say(["type": "nonsense"], socket)
            heard += try await hear(socket, ["error"])
            #expect(try await complaints("questions", ["server": heard, "client": said], endpoint) == [])
        }
    }

    @Test("Messages of conversations match their schemas") func conversations() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            for (device, name) in [("d1", "user1"), ("d2", "user2")] {
                _ = try await endpoint.post("/users", ["deviceId": .string(device), "name": .string(name)])
            }
            let socket = try await WebSocketTestClient.connect(to: endpoint, "/conversations/socket?deviceId=d1")
            var said = [try await say(["type": "send", "content": "Tea?", "routingKey": "user2", "ref": "1"], socket)]
            var heard = try await hear(socket, ["handshake", "message", "sent"])
            let conversation = heard.first { $0["type"] == "message" }?["message"]["conversation"] ?? .absent
            said.append(try await say(["type": "history", "conversation": conversation, "after": 0], socket))
            _ = try await say(["type": "nonsense"], socket)
            heard += try await hear(socket, ["history", "error"])
            #expect(try await complaints("conversations", ["server": heard, "client": said], endpoint) == [])
        }
    }

    @Test("Messages of Action Cable match their schemas on every channel") func cable() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.openRooms = true
                $0.openQuestions = true
            }
            for name in ["ada", "bob"] {
                _ = try await endpoint.post("/users", ["deviceId": .string(name), "name": .string(name)])
            }
            let socket = try await WebSocketTestClient.connect(to: endpoint, "/cable?deviceId=ada")
            let room = UUID()
            var heard: [TestJSON] = []
            var said: [TestJSON] = []
            func hear(until isEnough: () -> Bool) async throws {
                while !isEnough() { heard.append(try await socket.nextMessage().json()) }
            }
            func told(_ type: String) -> Int { heard.count { $0["message"]["type"].string == type } }
            func command(_ name: String, _ identifier: String, _ data: String? = nil) async throws {
                said.append(
                    try await say(
                        [
                            "command": .string(name), "identifier": .string(identifier),
                            "data": data.map { .string($0) } ?? .absent,
                        ], socket))
            }
            let inRoom = #"{"channel":"RoomChannel","id":"\#(room)","presence":true}"#
            let talk = #"{"channel":"ConversationChannel","presence":true}"#
            let ask = #"{"channel":"QuestionsChannel","session":"\#(QuestionSession.open.id)","presence":true}"#
            for identifier in [inRoom, talk, ask, #"{"channel":"NotificationsChannel"}"#] {
                try await command("subscribe", identifier)
            }
            try await command("subscribe", #"{"channel":"Nonsense"}"#)
            try await hear {
                heard.count { $0["type"] == "confirm_subscription" } == 4
                    && heard.contains { $0["type"] == "reject_subscription" } && told("questions") > 0
                    && told("presence") > 0
            }
            let peer = try await endpoint.enter(room)
            try await peer.send(text: #"{"type":"ale","id":"\#(room)","kind":"clap"}"#)
            try await command("message", inRoom, #"{"action":"nonsense"}"#)
            try await command("message", ask, #"{"action":"ask","content":"Why?"}"#)
            _ = try await endpoint.post("/messages", ["deviceId": "bob", "content": "Tea?", "routingKey": "ada"])
            try await hear {
                ["aleResponse", "error", "questionResponse", "question", "message", "new_chat"].allSatisfy {
                    told($0) > 0
                }
            }
            let conversation = heard.first { $0["message"]["type"] == "message" }?["message"]["data"]["conversation"]
            try await command(
                "message", talk, #"{"action":"history","id":"\#(conversation?.string ?? "")","after":0}"#)
            let start = try await journey.instant(in: 600)
            try await endpoint.register("ada", start)
            try await hear { told("schedule") > 0 && (told("history") > 0 || told("error") > 1) }
            try await journey.advance(to: start, -59)
            try await hear { told("reminder") > 0 }
            try await command("unsubscribe", inRoom)
            _ = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=ada")
            try await hear { heard.contains { $0["type"] == "disconnect" } }
            #expect(heard.contains { $0["type"] == "ping" } || heard.count < 100)
            #expect(try await complaints("cable", ["server": heard, "client": said], endpoint) == [])
            #expect(try await complaints("cable", ["server": said], endpoint).array?.isEmpty == false)
        }
    }

    @Test("Messages of event streams match the schemas of their events") func events() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            for name in ["ada", "bob", "eve"] {
                _ = try await endpoint.post("/users", ["deviceId": .string(name), "name": .string(name)])
            }
            let reminders = try await endpoint.reminders(of: "ada")
            let messages = try await EventStreamTestClient.connect(to: endpoint, "/messages?deviceId=ada")
            _ = try await messages.nextComment()
            let start = try await journey.instant(in: 600)
            _ = try await endpoint.pair("ada", "bob", start)
            var heard: [String: [TestJSON]] = [:]
            func hear(_ stream: EventStreamTestClient, _ name: String) async throws {
                while heard[name] == nil {
                    let event = try await stream.nextEvent()
                    heard[event.event, default: []].append(try event.json())
                }
            }
            try await hear(reminders, "schedule")
            try await journey.advance(to: start, -59)
            try await hear(reminders, "reminder")
            let group: TestJSON = ["deviceId": "eve", "participants": ["ada", "bob"]]
            let id = try await endpoint.post("/conversations", group).json()["id"]
            _ = try await endpoint.post("/messages", ["deviceId": "eve", "content": "Tea?", "conversation": id])
            try await hear(messages, "message")
            _ = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=bob")
            try await hear(messages, "left")
            #expect(Set(heard.keys) == ["schedule", "reminder", "message", "left"])
            #expect(try await complaints("events", heard, endpoint) == [])
        }
    }
}
