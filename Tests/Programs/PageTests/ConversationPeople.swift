import Foundation
import TestSupport
import Testing

/// People who talk, by the page and without it.
extension PageWorld {
    /// Asks the daemon in somebody's name.
    @discardableResult
    func post(_ path: String, _ body: TestJSON) async throws -> TestJSON {
        let response = try await HTTPTestClient.request(at: endpoint, "POST", path, json: body)
        guard response.status < 300 else { throw ClientFailure.violation("\(path): \(response.text)") }
        return try response.json()
    }

    /// Names for devices that are called the same.
    func name(_ people: String...) async throws {
        for person in people { try await post("/users", ["deviceId": .string(person), "name": .string(person)]) }
    }

    /// A conversation of these: its id.
    func conversation(_ people: String...) async throws -> String {
        let others = TestJSON.array(people.dropFirst().map { .string($0) })
        let made = try await post("/conversations", ["deviceId": .string(people[0]), "participants": others])
        return try #require(made["id"].string)
    }

    @discardableResult
    func say(_ content: String, by person: String, in conversation: String) async throws -> TestJSON {
        try await post(
            "/messages",
            ["deviceId": .string(person), "content": .string(content), "conversation": .string(conversation)])
    }

    /// What was said, as the daemon has it.
    func messages(in conversation: String, for person: String) async throws -> [TestJSON] {
        let response = try await HTTPTestClient.request(
            at: endpoint, "GET", "/conversations/\(conversation)/messages?deviceId=\(person)")
        return try response.json()["messages"].array ?? []
    }

    /// How a person's conversation stands.
    func standing(of conversation: String, for person: String) async throws -> TestJSON {
        let response = try await HTTPTestClient.request(at: endpoint, "GET", "/conversations?deviceId=\(person)")
        return try response.json()["conversations"].array?.first { $0["id"].string == conversation } ?? .absent
    }

    /// Opens the page of conversations as somebody who has a name, at one of them or the list.
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
    /// JavaScript: what the lines of the conversation say, in order.
    static let lines = "[...document.querySelectorAll('.line [data-part=content]')].map(line => line.textContent)"

    func waitForLines(_ lines: [String]) async throws {
        let expected = lines.map { "'\($0)'" }.joined(separator: ", ")
        try await wait(until: "JSON.stringify(\(Self.lines)) === JSON.stringify([\(expected)])")
    }

    /// Writes into what has the focus once that is the field for messages, and presses Enter.
    func say(_ content: String) async throws {
        try await wait(until: "document.activeElement.id === 'content'")
        try await type(content)
        try await press(.enter)
    }

    /// JavaScript: the link to the conversation that is called so.
    static func talk(_ title: String) -> String {
        "[...document.querySelectorAll('#talks a')].find(link => link.querySelector('b').textContent === '\(title)')"
    }
}
