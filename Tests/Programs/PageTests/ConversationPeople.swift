import Foundation
import TestSupport
import Testing

/// Users of conversations, with and without the page.
extension PageWorld {
    /// Posts a request for a user.
    @discardableResult
    func post(_ path: String, _ body: TestJSON) async throws -> TestJSON {
        let response = try await HTTPTestClient.request(at: endpoint, "POST", path, json: body)
        guard response.status < 300 else { throw ClientFailure.violation("\(path): \(response.text)") }
        return try response.json()
    }

    /// Registers names of devices. Each device has the same name as its user.
    func name(_ people: String...) async throws {
        for person in people { try await post("/users", ["deviceId": .string(person), "name": .string(person)]) }
    }

    /// Makes a conversation of these users. Returns its id.
    func conversation(_ people: String...) async throws -> String {
        let others = TestJSON.array(people.dropFirst().map { .string($0) })
        let made = try await post("/conversations", ["deviceId": .string(people[0]), "participants": others])
        return try #require(made["id"].string)
    }

    @discardableResult
    func send(_ content: String, by person: String, in conversation: String) async throws -> TestJSON {
        try await post(
            "/messages",
            ["deviceId": .string(person), "content": .string(content), "conversation": .string(conversation)])
    }

    /// Returns the messages that the daemon has stored.
    func messages(in conversation: String, for person: String) async throws -> [TestJSON] {
        let response = try await HTTPTestClient.request(
            at: endpoint, "GET", "/conversations/\(conversation)/messages?deviceId=\(person)")
        return try response.json()["messages"].array ?? []
    }

    /// Returns the state of a user's conversation.
    func participation(of conversation: String, for person: String) async throws -> TestJSON {
        let response = try await HTTPTestClient.request(at: endpoint, "GET", "/conversations?deviceId=\(person)")
        return try response.json()["conversations"].array?.first { $0["id"].string == conversation } ?? .absent
    }

    /// Opens the conversations page for a user with a name, at a conversation or at the list.
    func converse(
        _ person: String, in conversation: String = "", _ settings: BrowserPage.Settings = .init(),
        mayComplain: Bool = false
    ) async throws -> BrowserPage {
        var settings = settings
        settings.device = person
        let page = try await open("conversations#\(conversation)", settings, mayComplain: mayComplain)
        try await page.wait(
            until: "document.body.dataset.link === 'live' && ['list', 'talk'].includes(document.body.dataset.view)")
        return page
    }
}

extension BrowserPage {
    /// JavaScript: the texts of the conversation's lines, in order.
    static let lines = "[...document.querySelectorAll('.line [data-part=content]')].map(line => line.textContent)"

    func waitForLines(_ lines: [String]) async throws {
        let expected = lines.map { "'\($0)'" }.joined(separator: ", ")
        try await wait(until: "JSON.stringify(\(Self.lines)) === JSON.stringify([\(expected)])")
    }

    /// Waits until the message field has the focus, types into it and presses Enter.
    func send(_ content: String) async throws {
        try await wait(until: "document.activeElement.id === 'content'")
        try await type(content)
        try await press(.enter)
    }

    /// JavaScript: the link to the conversation with this title.
    static func conversation(_ title: String) -> String {
        "[...document.querySelectorAll('#talks a')].find(link => link.querySelector('b').textContent === '\(title)')"
    }
}
