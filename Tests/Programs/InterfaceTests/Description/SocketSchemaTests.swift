import Conversations
import Domain
import Foundation
import JourneyTestSupport
import Matches
import Questions
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
    private func receive(_ socket: WebSocketTestClient, _ types: Set<String>) async throws -> [TestJSON] {
        var received: [TestJSON] = []
        while !types.isSubset(of: received.compactMap { $0["type"].string }) {
            received.append(try await socket.nextMessage().json())
        }
        return received
    }

    private func send(_ message: TestJSON, _ socket: WebSocketTestClient) async throws -> TestJSON {
        try await socket.send(text: String(decoding: message.encoded(), as: UTF8.self))
        return message
    }

    /// Returns the validation errors of the messages, by their sender.
    private func violations(_ name: String, _ messages: [String: [TestJSON]], _ endpoint: ClientEndpoint) async throws
        -> TestJSON
    {
        let schema = try await endpoint.get("/schemas/\(name).json").json()
        let program = """
            import json, sys
            from jsonschema import Draft202012Validator
            task = json.loads(sys.stdin.readline())
            Draft202012Validator.check_schema(task["schema"])
            print(json.dumps([
                f"{message}: {error.message}" for who, messages in task["messages"].items() for message in messages
                for error in Draft202012Validator({**task["schema"], "anyOf": [{"$ref": f"#/$defs/{who}"}]}).iter_errors(message)]))
            """
        return try await PythonPackages.ofOpenAPI.run(
            program, ["schema": schema, "messages": .object(messages.mapValues { .array($0) })])
    }

    @Test("Messages of rooms match their schemas") func ale() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.matches.openRooms = true }
            let room = UUID()
            let (first, second) = (
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)&presence=true"),
                try await WebSocketTestClient.connect(to: endpoint, "/socket?id=\(room)")
            )
            let sent = [try await send(["type": "ale", "id": .string(room.uuidString)], second)]
            var received = try await receive(first, ["handshake", "presence", "aleResponse"])
            _ = try await send(["type": "nonsense"], second)
            received += try await receive(second, ["error"])
            #expect(try await violations("ale", ["server": received, "client": sent], endpoint) == [])
            // The validator detects wrong messages.
            #expect(try await violations("ale", ["server": sent, "client": []], endpoint).array?.isEmpty == false)
        }
    }

    @Test("Messages of question sessions match their schemas") func questions() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon { $0.questions.hasOpenSession = true }
            let session = QuestionSession.open.id
            let socket = try await WebSocketTestClient.connect(
                to: endpoint, "/questions/\(session)/socket?deviceId=ada&live=true")
            var received = try await receive(socket, ["handshake", "questions", "session", "presence"])
            let id = try #require(received.first { $0["type"] == "handshake" }?["id"].string)
            var sent = [try await send(["type": "newQuestion", "id": .string(id), "content": "Why?"], socket)]
            received += try await receive(socket, ["questionResponse", "question"])
            let question = received.first { $0["type"] == "question" }?["question"]["id"] ?? .absent
            sent.append(try await send(["type": "vote", "questionId": question], socket))
            _ = try await send(["type": "nonsense"], socket)
            received += try await receive(socket, ["error"])
            #expect(try await violations("questions", ["server": received, "client": sent], endpoint) == [])
        }
    }

    @Test("Messages of conversations match their schemas") func conversations() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            for (device, name) in [("d1", "user1"), ("d2", "user2")] {
                _ = try await endpoint.post("/users", ["deviceId": .string(device), "name": .string(name)])
            }
            let socket = try await WebSocketTestClient.connect(to: endpoint, "/conversations/socket?deviceId=d1")
            var sent = [try await send(["type": "send", "content": "Tea?", "routingKey": "user2", "ref": "1"], socket)]
            var received = try await receive(socket, ["handshake", "message", "sent"])
            let conversationID = received.first { $0["type"] == "message" }?["message"]["conversation"] ?? .absent
            let messageID = received.first { $0["type"] == "message" }?["message"]["id"] ?? .absent
            for isRemoved in [false, true] {
                sent.append(
                    try await send(
                        [
                            "type": "react", "conversation": conversationID, "messageId": messageID, "emoji": "🎉",
                            "remove": .bool(isRemoved), "ref": "2",
                        ], socket))
                received += try await receive(socket, ["reaction", "reacted"])
            }
            sent.append(try await send(["type": "history", "conversation": conversationID, "after": 0], socket))
            _ = try await send(["type": "nonsense"], socket)
            received += try await receive(socket, ["history", "error"])
            #expect(try await violations("conversations", ["server": received, "client": sent], endpoint) == [])
        }
    }

    @Test("Messages of Action Cable match their schemas on every channel") func cable() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon {
                $0.matches.openRooms = true
                $0.questions.hasOpenSession = true
            }
            for name in ["ada", "bob"] {
                _ = try await endpoint.post("/users", ["deviceId": .string(name), "name": .string(name)])
            }
            let socket = try await WebSocketTestClient.connect(to: endpoint, "/cable?deviceId=ada")
            let room = UUID()
            var received: [TestJSON] = []
            var sent: [TestJSON] = []
            func receive(until isEnough: () -> Bool) async throws {
                while !isEnough() { received.append(try await socket.nextMessage().json()) }
            }
            func count(_ type: String) -> Int { received.count { $0["message"]["type"].string == type } }
            func command(_ name: String, _ identifier: String, _ data: String? = nil) async throws {
                sent.append(
                    try await send(
                        [
                            "command": .string(name), "identifier": .string(identifier),
                            "data": data.map { .string($0) } ?? .absent,
                        ], socket))
            }
            let inRoom = #"{"channel":"RoomChannel","id":"\#(room)","presence":true}"#
            let conversation = #"{"channel":"ConversationChannel","presence":true}"#
            let ask = #"{"channel":"QuestionsChannel","session":"\#(QuestionSession.open.id)","presence":true}"#
            for identifier in [inRoom, conversation, ask, #"{"channel":"NotificationsChannel"}"#] {
                try await command("subscribe", identifier)
            }
            try await command("subscribe", #"{"channel":"Nonsense"}"#)
            try await receive {
                received.count { $0["type"] == "confirm_subscription" } == 4
                    && received.contains { $0["type"] == "reject_subscription" } && count("questions") > 0
                    && count("presence") > 0
            }
            let peer = try await endpoint.enter(room)
            try await peer.send(text: #"{"type":"ale","id":"\#(room)","kind":"clap"}"#)
            try await command("message", inRoom, #"{"action":"nonsense"}"#)
            try await command("message", ask, #"{"action":"ask","content":"Why?"}"#)
            _ = try await endpoint.post("/messages", ["deviceId": "bob", "content": "Tea?", "routingKey": "ada"])
            try await receive {
                ["aleResponse", "error", "questionResponse", "question", "message", "new_chat"].allSatisfy {
                    count($0) > 0
                }
            }
            let conversationID = received.first { $0["message"]["type"] == "message" }?["message"]["data"][
                "conversation"]
            try await command(
                "message", conversation, #"{"action":"history","id":"\#(conversationID?.string ?? "")","after":0}"#)
            let start = try await journey.instant(in: 600)
            try await endpoint.register("ada", start)
            try await receive { count("schedule") > 0 && (count("history") > 0 || count("error") > 1) }
            try await journey.advance(to: start, -59)
            try await receive { count("reminder") > 0 }
            try await command("unsubscribe", inRoom)
            _ = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=ada")
            try await receive { received.contains { $0["type"] == "disconnect" } }
            #expect(received.contains { $0["type"] == "ping" } || received.count < 100)
            #expect(try await violations("cable", ["server": received, "client": sent], endpoint) == [])
            #expect(try await violations("cable", ["server": sent], endpoint).array?.isEmpty == false)
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
            var received: [String: [TestJSON]] = [:]
            func receive(_ stream: EventStreamTestClient, _ name: String) async throws {
                while received[name] == nil {
                    let event = try await stream.nextEvent()
                    received[event.event, default: []].append(try event.json())
                }
            }
            try await receive(reminders, "schedule")
            try await journey.advance(to: start, -59)
            try await receive(reminders, "reminder")
            let group: TestJSON = ["deviceId": "eve", "participants": ["ada", "bob"]]
            let id = try await endpoint.post("/conversations", group).json()["id"]
            _ = try await endpoint.post("/messages", ["deviceId": "eve", "content": "Tea?", "conversation": id])
            try await receive(messages, "message")
            _ = try await HTTPTestClient.request(at: endpoint, "DELETE", "/device?deviceId=bob")
            try await receive(messages, "left")
            #expect(Set(received.keys) == ["schedule", "reminder", "message", "left"])
            #expect(try await violations("events", received, endpoint) == [])
        }
    }
}
