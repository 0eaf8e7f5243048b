import FoundationEssentials
import LetsSwitchClient

/// The commands `name`, `say`, `listen` without a session, and `history`.
struct ConversationRun {
    let conversations: Conversations
    let output: Output

    /// Registers a user name for this device.
    func take(_ name: String) async throws {
        try output.writeObject(try await conversations.took(name), "You are \(name).")
    }

    func send(_ content: String, to names: [String]) async throws {
        // The server stores a message with a repeated id only once, so sending it again after a lost connection is
        // safe.
        let id = UUID()
        let sent: (message: Message, source: String)
        do {
            sent = try await conversations.sent(content, to: names, id: id)
        } catch ClientError.unreachable {
            sent = try await conversations.sent(content, to: names, id: id)
        }
        try output.writeObject(sent.source, "The message is sent.")
    }

    /// Shows messages as they arrive.
    func listen() async throws {
        let reading = conversations.reading()
        while let item = try await reading.next() {
            guard output.isTerminal else {
                if let source = item.source { try output.writeObject(source, source) }
                continue
            }
            switch item.event {
            case .entered(let name): try output.write("You are \(name). Press Ctrl-C to stop.")
            case .message(let message): try output.write(Self.line(message))
            case .reaction(let change): try output.write(Self.line(change))
            case .waiting(let wait): try output.write("Not connected. Trying again in \(wait.components.seconds) s.")
            case .closed: break
            }
        }
    }

    /// Lists all conversations, the latest first.
    func list() async throws {
        var next: String?
        repeat {
            let list = try await conversations.list(before: next)
            if output.isTerminal {
                for conversation in list.conversations { try output.write(Self.line(conversation)) }
            } else {
                try output.writeObject(list.source, "")
            }
            next = list.next
        } while next != nil
    }

    /// Shows the latest messages of the conversation between this device and exactly these users.
    func history(with names: [String], count: Int) async throws {
        let wanted = Set(names + [try await ownName()])
        var next: String?
        repeat {
            let list = try await conversations.list(before: next)
            // If there are several conversations, the one with the latest message comes first in the list.
            if let found = list.conversations.first(where: { Set($0.participants) == wanted }) {
                let page = try await conversations.history(of: found.id, limit: count)
                guard output.isTerminal else { return try output.writeObject(page.source, "") }
                for message in page.messages { try output.write(Self.line(message)) }
                return
            }
            next = list.next
        } while next != nil
        throw MissingConversation(names: names)
    }

    private func ownName() async throws -> String {
        let reading = conversations.reading()
        // Other events, such as a wait for a connection, can come first.
        while let item = try await reading.next() { if case .entered(let name) = item.event { return name } }
        throw ClientError.garbled("it doesn't have this device's name")
    }

    private static func line(_ message: Message) -> String {
        let author = message.author.isEmpty ? "somebody" : message.author
        return Output.indented("\(message.date.formatted(.iso8601)) \(author): \(message.content)")
    }

    private static func line(_ change: ReactionChange) -> String {
        let what = change.isAdded ? "reacts with \(change.emoji)" : "removes \(change.emoji)"
        return Output.indented("\(change.user) \(what): message \(change.offset)")
    }

    private static func line(_ conversation: Conversation) -> String {
        let unread = conversation.lastOffset - conversation.readOffset
        let last = conversation.lastMessage.map { " — \($0.author): \($0.content)" } ?? ""
        return Output.indented("\(conversation.name)\(unread > 0 ? " (\(unread) unread)" : "")\(last)")
    }
}

/// The error if a request for the history doesn't name a conversation.
private struct MissingConversation: Error, CustomStringConvertible {
    let names: [String]
    var description: String { "there is no conversation between only you and \(names.joined(separator: ", "))" }
}
