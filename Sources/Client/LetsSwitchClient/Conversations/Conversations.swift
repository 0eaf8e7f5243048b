#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Conversations between two or more people, with history.
///
/// ```swift
/// let conversations = client.conversations
/// try await conversations.takeName("ada")
/// let sent = try await conversations.send("Tea?", to: ["bob"])
/// for try await case .message(let message) in conversations.events() { print(message.content) }
/// ```
public struct Conversations: Sendable {
    /// An event of the conversations: `if case .message(let message) = event { … }`
    public enum Event: Sendable, Hashable {
        /// The client is connected, with this user name: `case .entered(let name): print(name)`
        case entered(String)
        /// A message of any participant, including this device: `case .message(let message): print(message.content)`
        case message(Message)
        /// A person has added or removed a reaction: `case .reaction(let change): print(change.user, change.emoji)`
        case reaction(ReactionChange)
        /// There is no connection. The client tries to connect again after this time: `case .waiting(let wait):
        /// print(wait)`
        case waiting(Duration)
        /// The connection has ended: `case .closed(let code): print(code)`
        case closed(CloseCode)
    }

    let requests: DeviceRequests

    init(_ requests: DeviceRequests) {
        self.requests = requests
    }

    // MARK: Names

    private struct Name: Encodable {
        let deviceId: String
        let name: String
    }

    /// Takes a user name for this device, which can't be changed later. Taking the same name again has no effect.
    ///
    /// ```swift
    /// try await client.conversations.takeName("ada")
    /// ```
    ///
    /// - Parameter name: 1 to 32 characters of `A–Z a–z 0–9 _ -`. Case matters.
    /// - Throws: ``ClientError``, such as `name_taken` or `has_name` in a ``ClientError/refused(_:)``.
    public func takeName(_ name: String) async throws {
        _ = try await took(name)
    }

    /// Takes a user name like ``takeName(_:)``, and returns the server's JSON.
    package func took(_ name: String) async throws -> String {
        let bytes = try await requests.post("/users", Name(deviceId: requests.deviceID, name: name))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns at most 100 user names that begin with a prefix.
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

    /// Opens a conversation. Two people share only one conversation. With more people, each call creates a new group,
    /// unless `id` is the id of an earlier call.
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

    /// Returns this device's conversations, the latest first.
    ///
    /// ```swift
    /// var list = try await client.conversations.list()
    /// while let next = list.next { list = try await client.conversations.list(before: next) }
    /// ```
    ///
    /// - Parameter next: ``ConversationList/next`` of the previous list.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    public func list(before next: String? = nil) async throws -> ConversationList {
        let before = next.map { "&before=\(escaped($0))" } ?? ""
        return try ConversationList(try await requests.get("/conversations?\(requests.identity)\(before)"))
    }

    /// Returns the messages of a conversation after an offset.
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

    /// Returns the latest messages of a conversation before an offset.
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

    // MARK: Sending

    private struct Outgoing: Encodable {
        let deviceId: String
        let content: String
        let id: String?
        var conversation: String?
        var routingKey: String?
    }

    /// Sends a message in a conversation.
    ///
    /// ```swift
    /// let message = try await client.conversations.send("Tea?", in: tea.id, id: id)
    /// ```
    ///
    /// - Parameter id: The message's id. After a lost connection, send the message again with the same id. The server
    ///   stores it only once.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    @discardableResult
    public func send(_ content: String, in conversation: UUID, id: UUID? = nil) async throws -> Message {
        var outgoing = Outgoing(deviceId: requests.deviceID, content: content, id: id?.uuidString)
        outgoing.conversation = conversation.uuidString
        return try await send(outgoing).message
    }

    /// Sends a message to people. The message goes to the oldest conversation that has exactly these people and this
    /// device, or to a new conversation.
    ///
    /// ```swift
    /// let message = try await client.conversations.send("Tea?", to: ["bob"])
    /// ```
    ///
    /// - Parameter id: The message's id, as in ``send(_:in:id:)``.
    /// - Throws: ``ClientError``, such as a ``ClientError/refused(_:)`` with `name_required`.
    @discardableResult
    public func send(_ content: String, to names: [String], id: UUID? = nil) async throws -> Message {
        try await sent(content, to: names, id: id).message
    }

    /// Sends a message, and returns the server's JSON, too.
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

    // MARK: Receiving

    /// Returns the messages of all of this device's conversations, including conversations that begin later. Each
    /// message comes once, in the order of its conversation. After a lost connection the client connects again and
    /// receives the missed messages. The stream is for one reader. The reader may be slow: unread messages wait on the
    /// server. The stream ends when its task is cancelled.
    ///
    /// ```swift
    /// for try await case .message(let message) in client.conversations.events(after: known) { show(message) }
    /// ```
    ///
    /// - Parameter offsets: The last known offsets of up to 100 conversations, or of any of the 200 latest. The
    ///   messages after these offsets come first. All other conversations begin with their next message.
    /// - Throws: ``ClientError`` in the stream, if the client can't connect again.
    public func events(after offsets: [UUID: Int] = [:]) -> AsyncThrowingStream<Event, any Error> {
        let reading = reading(after: offsets)
        return AsyncThrowingStream { try await reading.next()?.event }
    }

    /// Returns the same events as ``events(after:)``, with the server's JSON.
    package func reading(after offsets: [UUID: Int] = [:]) -> ConversationReading {
        ConversationReading(requests, after: offsets)
    }
}
