package import Foundation
package import TestSupport
import Testing

/// A socket that receives conversations, and the server's handshake message.
package struct ConversationPeer {
    package let socket: WebSocketTestClient
    package let handshake: TestJSON

    package init(socket: WebSocketTestClient, handshake: TestJSON) {
        self.socket = socket
        self.handshake = handshake
    }

    package static func connect(
        to endpoint: ClientEndpoint, _ device: String, after: [UUID: Int] = [:]
    ) async throws -> ConversationPeer {
        let offsets = after.map { "\($0.key):\($0.value)" }.joined(separator: ",")
        let socket = try await WebSocketTestClient.connect(
            to: endpoint, "/conversations/socket?deviceId=\(device)&after=\(offsets)")
        let message = try await socket.nextMessage()
        guard case .text = message, try message.json()["type"] == "handshake" else {
            throw ClientFailure.violation("no handshake, but \(message)")
        }
        return ConversationPeer(socket: socket, handshake: try message.json())
    }

    package func send(_ json: TestJSON) async throws { try await socket.send(json: json) }

    /// The next message, except presence. The server sends text frames only.
    package func next() async throws -> TestJSON {
        while true {
            let message = try await socket.nextMessage()
            guard case .text = message else { throw ClientFailure.violation("no text, but \(message)") }
            let json = try message.json()
            if json["type"] != "presence" { return json }
        }
    }

    /// Returns the next message, which must have this type.
    @discardableResult
    package func receive(_ type: String) async throws -> TestJSON {
        let message = try await next()
        guard message["type"].string == type else {
            throw ClientFailure.violation("expected \(type), received \(message)")
        }
        return message
    }

    /// Checks with a command that no message except presence arrives before its answer.
    package func expectNothing() async throws {
        try await send(["type": "nothing"])
        try await receive("error")
    }

    /// Skips other messages until `count` users are present in a conversation. Returns who they are.
    package func awaitPresence(of count: Int, in conversation: UUID) async throws -> [String?] {
        while true {
            let presence = try await self.await("presence")["data"]
            if presence["conversation"].string == conversation.uuidString, presence["count"].int == count {
                return presence["users"].array?.map(\.string) ?? []
            }
        }
    }

    /// Skips messages until one has this type.
    @discardableResult
    package func await(_ type: String) async throws -> TestJSON {
        while true {
            let message = try await socket.nextMessage().json()
            if message["type"].string == type { return message }
        }
    }
}

/// Actions of named users at a daemon. `user1` has the device `d1`.
extension ClientEndpoint {
    package func makeUsers(_ users: ClosedRange<Int>) async throws {
        for user in users {
            let response = try await post("/users", ["deviceId": "d\(user)", "name": "user\(user)"])
            guard response.status == 201 else { throw ClientFailure.violation("\(response.status) \(response.text)") }
        }
    }

    package func makeConversation(_ user: Int, _ others: [Int]) async throws -> UUID {
        let response = try await post(
            "/conversations",
            ["deviceId": "d\(user)", "participants": .array(others.map { "user\($0)" })])
        guard [200, 201].contains(response.status),
            let id = try response.json()["id"].string.flatMap(UUID.init(uuidString:))
        else { throw ClientFailure.violation("\(response.status) \(response.text)") }
        return id
    }

    /// Sends `count` messages, half of them by `user1` and half by `user2`, at the same time, each at one daemon.
    package static func sendFromTwoUsers(_ count: Int, in conversation: UUID, at daemons: [ClientEndpoint]) async throws
    {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for (index, daemon) in daemons.prefix(2).enumerated() {
                tasks.addTask {
                    let client = try await HTTPTestClient.connect(to: daemon)
                    for number in 1...count / 2 {
                        let message: TestJSON = [
                            "deviceId": .string("d\(index + 1)"), "content": .string("\(number)"),
                            "conversation": .string(conversation.uuidString),
                        ]
                        let response = try await client.request("POST", "/messages", json: message)
                        #expect(response.status == 201)
                    }
                    await client.close()
                }
            }
            try await tasks.waitForAll()
        }
    }

    @discardableResult
    package func send(_ user: Int, _ content: String, in conversation: UUID) async throws -> TestResponse {
        try await post(
            "/messages",
            ["deviceId": "d\(user)", "content": .string(content), "conversation": .string(conversation.uuidString)])
    }
}
