#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What two people say, or many, with history.
///
/// ```swift
/// let conversations = client.conversations
/// try await conversations.takeName("ada")
/// let sent = try await conversations.say("Tea?", to: ["bob"])
/// for try await case .message(let message) in conversations.events() { print(message.content) }
/// ```
public struct Conversations: Sendable {
    /// What happens in conversations: `if case .message(let message) = event { … }`
    public enum Event: Sendable, Hashable {
        /// Connected, under this name: `case .entered(let name): print(name)`
        case entered(String)
        /// Somebody said something, oneself too: `case .message(let message): print(message.content)`
        case message(Message)
        /// There is no connection, and the next attempt is due: `case .waiting(let wait): print(wait)`
        case waiting(Duration)
        /// The connection has ended: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    private let requests: DeviceRequests

    init(_ requests: DeviceRequests) {
        self.requests = requests
    }

    // MARK: Names

    private struct Name: Encodable {
        let deviceId: String
        let name: String
    }

    /// Takes the name by which others know this device: first come, first served, and for ever. Taking it again is harmless.
    ///
    /// ```swift
    /// try await client.conversations.takeName("ada")
    /// ```
    ///
    /// - Parameter name: 1 to 32 of `A–Z a–z 0–9 _ -`; case counts.
    /// - Throws: ``ClientError``, such as `name_taken` or `has_name` in a ``ClientError/refused(_:)``.
    public func takeName(_ name: String) async throws {
        _ = try await took(name)
    }

    /// The same with what the server said.
    package func took(_ name: String) async throws -> String {
        let bytes = try await requests.post("/users", Name(deviceId: requests.deviceID, name: name))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Names that begin so, a hundred at most.
    ///
    /// ```swift
    /// let names = try await client.conversations.names(beginningWith: "a")
    /// ```
    ///
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func names(beginningWith prefix: String = "") async throws -> [String] {
        struct Body: Decodable { let users: [String] }
        let bytes = try await requests.get("/users?\(requests.identity)&prefix=\(escaped(prefix))")
        let body: Body = try bytes.decoded(as: "names")
        return body.users
    }

    // MARK: Conversations

    private struct Opening: Encodable {
        let deviceId: String
        let participants: [String]
        let id: String?
    }

    /// Opens a conversation with these. Two have one; more make another each time, but for the same `id`.
    ///
    /// ```swift
    /// let tea = try await client.conversations.open(with: ["bob", "eve"], id: UUID())
    /// ```
    ///
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func open(with names: [String], id: UUID? = nil) async throws -> Conversation {
        let opening = Opening(deviceId: requests.deviceID, participants: names, id: id?.uuidString)
        return try await requests.post("/conversations", opening).decoded(as: "conversation")
    }

    /// This device's conversations, the latest first.
    ///
    /// ```swift
    /// var list = try await client.conversations.list()
    /// while let next = list.next { list = try await client.conversations.list(before: next) }
    /// ```
    ///
    /// - Parameter next: The earlier list's ``ConversationList/next``.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func list(before next: String? = nil) async throws -> ConversationList {
        let before = next.map { "&before=\(escaped($0))" } ?? ""
        return try ConversationList(try await requests.get("/conversations?\(requests.identity)\(before)"))
    }

    /// What was said in a conversation after an offset, upwards.
    ///
    /// ```swift
    /// let page = try await client.conversations.history(of: id, after: 12)
    /// ```
    ///
    /// - Parameter limit: 1 to 100.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func history(of conversation: UUID, after offset: Int, limit: Int = 100) async throws -> MessagePage {
        try await page(of: conversation, "after=\(offset)&limit=\(limit)")
    }

    /// What was said last in a conversation before an offset.
    ///
    /// ```swift
    /// let page = try await client.conversations.history(of: id)
    /// let older = try await client.conversations.history(of: id, before: page.messages[0].offset)
    /// ```
    ///
    /// - Parameter limit: 1 to 100.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func history(of conversation: UUID, before offset: Int = .max, limit: Int = 100) async throws -> MessagePage
    {
        try await page(of: conversation, "before=\(offset)&limit=\(limit)")
    }

    private func page(of conversation: UUID, _ query: String) async throws -> MessagePage {
        let target = "/conversations/\(conversation.uuidString)/messages?\(requests.identity)&\(query)"
        return try MessagePage(try await requests.get(target))
    }

    // MARK: Saying

    private struct Outgoing: Encodable {
        let deviceId: String
        let content: String
        let id: String?
        var conversation: String?
        var routingKey: String?
    }

    /// Says something in a conversation.
    ///
    /// ```swift
    /// let message = try await client.conversations.say("Tea?", in: tea.id, id: id)
    /// ```
    ///
    /// - Parameter id: Makes a repeat harmless: after a loss, say the same again with the same id.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    @discardableResult
    public func say(_ content: String, in conversation: UUID, id: UUID? = nil) async throws -> Message {
        var outgoing = Outgoing(deviceId: requests.deviceID, content: content, id: id?.uuidString)
        outgoing.conversation = conversation.uuidString
        return try await send(outgoing).message
    }

    /// Says something to these, in the oldest conversation of exactly them and oneself, else in a new one.
    ///
    /// ```swift
    /// let message = try await client.conversations.say("Tea?", to: ["bob"])
    /// ```
    ///
    /// - Parameter id: As in ``say(_:in:id:)``.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    @discardableResult
    public func say(_ content: String, to names: [String], id: UUID? = nil) async throws -> Message {
        try await sent(content, to: names, id: id).message
    }

    /// The same, with the server's own text.
    package func sent(
        _ content: String, to names: [String], id: UUID? = nil
    ) async throws -> (message: Message, source: String) {
        var outgoing = Outgoing(deviceId: requests.deviceID, content: content, id: id?.uuidString)
        outgoing.routingKey = names.joined(separator: ".")
        return try await send(outgoing)
    }

    private func send(_ outgoing: Outgoing) async throws -> (message: Message, source: String) {
        struct Body: Decodable { let messages: [Message] }
        let bytes = try await requests.post("/messages", outgoing)
        let body: Body = try bytes.decoded(as: "message")
        guard let message = body.messages.first else {
            throw ClientError.garbled("no message")
        }
        return (message, String(decoding: bytes, as: UTF8.self))
    }

    // MARK: Hearing

    /// What is said in all of this device's conversations, also in those that are made since, each message once and in its
    /// conversation's order. A lost connection is made again, and what was said meanwhile is heard then. For one reader, who may take
    /// its time: what isn't read waits at the server. The stream ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await case .message(let message) in client.conversations.events(after: known) { show(message) }
    /// ```
    ///
    /// - Parameter offsets: What is known already, of a hundred conversations, or of others of the 200 latest: what lies above comes
    ///   first. Those that aren't named begin with what is said next.
    /// - Throws: In the stream: ``ClientError``, as soon as no further attempt would help.
    public func events(after offsets: [UUID: Int] = [:]) -> AsyncThrowingStream<Event, any Error> {
        let reading = reading(after: offsets)
        return AsyncThrowingStream { try await reading.next()?.event }
    }

    /// The same with what the server said.
    package func reading(after offsets: [UUID: Int] = [:]) -> ConversationReading {
        ConversationReading(requests, after: offsets)
    }
}
