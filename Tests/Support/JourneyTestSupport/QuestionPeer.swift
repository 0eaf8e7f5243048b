package import Foundation
package import TestSupport

/// A socket in a session, and the id that the handshake gave it.
package struct QuestionPeer {
    package let socket: WebSocketTestClient
    package let id: UUID

    package static func connect(to endpoint: ClientEndpoint, _ target: String, headers: TestHeaders = [:]) async throws
        -> QuestionPeer
    {
        let socket = try await WebSocketTestClient.connect(to: endpoint, target, headers: headers)
        let message = try await socket.nextMessage()
        guard case .binary = message, try message.json()["type"] == "handshake",
            let id = try message.json()["id"].string.flatMap(UUID.init(uuidString:))
        else { throw ClientFailure.violation("no handshake, but \(message)") }
        return QuestionPeer(socket: socket, id: id)
    }

    package func send(_ json: TestJSON) async throws { try await socket.send(json: json) }

    /// The next message, which must have this type. Presence messages are skipped. The server sends binary frames only.
    @discardableResult
    package func receive(_ type: String) async throws -> TestJSON {
        while true {
            let message = try await socket.nextMessage()
            let received = try message.json()["type"].string
            if case .binary = message, received == type { return try message.json() }
            guard received == "presence" else {
                throw ClientFailure.violation("expected \(type), received \(try message.json())")
            }
        }
    }

    /// Returns when it has received the people count `count`. Skips other messages.
    package func waitForCount(_ count: Int) async throws {
        try await receive("presence") { $0["data"]["count"].int == count }
    }

    /// Checks with a message that nothing except presence arrives before its answer.
    package func expectNothing() async throws {
        try await send(["type": "nothing"])
        try await receive("error")
    }

    /// Skips messages until one fulfils the condition.
    @discardableResult
    package func receive(_ type: String, where isWanted: (TestJSON) -> Bool) async throws -> TestJSON {
        while true {
            let message = try await socket.nextMessage().json()
            if message["type"].string == type, isWanted(message) { return message }
        }
    }

    /// Receives a session's list, which fits into one message, and then the session's state.
    @discardableResult
    package func receiveList(_ state: String = "open") async throws -> TestJSON {
        let list = try await receive("questions")
        guard list["more"] == false, try await receive("session")["state"].string == state else {
            throw ClientFailure.violation("no \(state) session behind \(list)")
        }
        return list
    }

    /// Asks a question and returns the answer. Skips other messages.
    package func ask(_ content: String) async throws -> TestJSON {
        try await send(["type": "newQuestion", "id": .string(id.uuidString), "content": .string(content)])
        return try await receive("questionResponse") { _ in true }
    }

    /// Asks a question, which must be stored, and returns its id.
    package func asked(_ content: String) async throws -> UUID {
        let response = try await ask(content)
        guard response["success"] == true, let id = response["id"].string.flatMap(UUID.init(uuidString:)) else {
            throw ClientFailure.violation("refused: \(response)")
        }
        return id
    }

    package func vote(_ question: UUID, _ type: String = "vote") async throws {
        try await send(["type": .string(type), "questionId": .string(question.uuidString)])
    }
}

/// A session that a test has made.
package struct TestSession {
    package let id: UUID
    package let key: String
    package let endpoint: ClientEndpoint

    package init(id: UUID, key: String, endpoint: ClientEndpoint) {
        self.id = id
        self.key = key
        self.endpoint = endpoint
    }

    package static func make(at endpoint: ClientEndpoint, moderated: Bool = false) async throws -> TestSession {
        let response = try await endpoint.post(
            "/questions/sessions", ["deviceId": "speaker", "title": "Tea", "moderated": .bool(moderated)])
        let json = try response.json()
        guard response.status == 201, let id = json["id"].string.flatMap(UUID.init(uuidString:)),
            let key = json["presenterKey"].string
        else { throw ClientFailure.violation("no session: \(response.status) \(response.text)") }
        return TestSession(id: id, key: key, endpoint: endpoint)
    }

    /// The same session at another daemon.
    package func at(_ endpoint: ClientEndpoint) -> TestSession { TestSession(id: id, key: key, endpoint: endpoint) }

    package func join(_ device: String? = nil, isLive: Bool = false, asPresenter: Bool = false) async throws
        -> QuestionPeer
    {
        let query = (device.map { ["deviceId=\($0)"] } ?? []) + (isLive ? ["live=true"] : [])
        return try await QuestionPeer.connect(
            to: endpoint, "/questions/\(id)/socket?\(query.joined(separator: "&"))",
            headers: asPresenter ? ["Authorization": "Bearer \(key)"] : [:])
    }

    package func present(_ path: String, _ json: TestJSON = [:]) async throws -> TestResponse {
        try await HTTPTestClient.request(
            at: endpoint, "POST", "/questions/\(path)", headers: ["Authorization": "Bearer \(key)"], json: json)
    }

    /// The list as the presenter sees it.
    package func list() async throws -> [TestJSON] {
        let response = try await HTTPTestClient.request(
            at: endpoint, "GET", "/questions/\(id)/list", headers: ["Authorization": "Bearer \(key)"])
        return try response.json()["questions"].array ?? []
    }
}
