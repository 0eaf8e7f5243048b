import FoundationEssentials
import LetsSwitchClient

/// Saying something to others, hearing them, and what was said before.
struct ConversationRun {
    let conversations: Conversations
    let output: Output

    /// Takes the name by which others know this device.
    func take(_ name: String) async throws {
        try output.tell(try await conversations.took(name), "You are \(name).")
    }

    func say(_ content: String, to names: [String]) async throws {
        // By its id, saying it again after a loss is harmless.
        let id = UUID()
        let sent: (message: Message, source: String)
        do {
            sent = try await conversations.sent(content, to: names, id: id)
        } catch ClientError.unreachable {
            sent = try await conversations.sent(content, to: names, id: id)
        }
        try output.tell(sent.source, "It is said.")
    }

    /// What is said, as it is said.
    func listen() async throws {
        let reading = conversations.reading()
        while let item = try await reading.next() {
            guard output.isTerminal else {
                if let source = item.source { try output.tell(source, source) }
                continue
            }
            switch item.event {
            case .entered(let name): try output.say("You are \(name). Ctrl-C ends it.")
            case .message(let message): try output.say(Self.line(message))
            case .waiting(let wait): try output.say("not connected; again in \(wait.components.seconds) s")
            case .closed: break
            }
        }
    }

    /// All conversations, the latest first.
    func list() async throws {
        var next: String?
        repeat {
            let list = try await conversations.list(before: next)
            if output.isTerminal {
                for conversation in list.conversations { try output.say(Self.line(conversation)) }
            } else {
                try output.tell(list.source, "")
            }
            next = list.next
        } while next != nil
    }

    /// What was said last among exactly these and this device.
    func history(with names: [String], count: Int) async throws {
        let wanted = Set(names + [try await ownName()])
        var next: String?
        repeat {
            let list = try await conversations.list(before: next)
            // Of several the one in which something was said last.
            if let found = list.conversations.first(where: { Set($0.participants) == wanted }) {
                let page = try await conversations.history(of: found.id, limit: count)
                guard output.isTerminal else { return try output.tell(page.source, "") }
                for message in page.messages { try output.say(Self.line(message)) }
                return
            }
            next = list.next
        } while next != nil
        throw ClientError.sentAway("there is no conversation of just you and \(names.joined(separator: ", "))")
    }

    private func ownName() async throws -> String {
        let reading = conversations.reading()
        // A connection that has to be waited for is told first.
        while let item = try await reading.next() { if case .entered(let name) = item.event { return name } }
        throw ClientError.sentAway("the server didn't say who we are")
    }

    private static func line(_ message: Message) -> String {
        let author = message.author.isEmpty ? "somebody" : message.author
        return Output.indented("\(message.date.formatted(.iso8601)) \(author): \(message.content)")
    }

    private static func line(_ conversation: Conversation) -> String {
        let unread = conversation.lastOffset - conversation.readOffset
        let last = conversation.lastMessage.map { " — \($0.author): \($0.content)" } ?? ""
        return Output.indented("\(conversation.name)\(unread > 0 ? " (\(unread) unread)" : "")\(last)")
    }
}
