import Conversations
import Domain
import FoundationEssentials
import Wire

/// Messages on a conversation's socket: they are understood exactly as by a simple parser, errors have the `ref`, and
/// no input traps.
enum ConversationProperties {
    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        let command = read(input.content)
        try require(
            read(Array(" \n".utf8) + input.content + Array("\t\r ".utf8)) == command,
            "with space around it, it is another")
        guard let tree = PlainJSON(input.content, depth: JSONSyntax.maximumDepth) else {
            try require(command.isRefused(ref: nil), "\(command), where a plain reading finds no JSON")
            return
        }
        let names = [
            "type", "ref", "content", "conversation", "conversations", "routingKey", "id", "after", "limit",
            "messageId",
            "emoji", "remove",
        ]
        guard names.allSatisfy({ tree.text($0).isUnique }) else { return }
        let ref = tree.text("ref").text
        switch command {
        case .send(let message, let answered):
            try require(tree.text("type").text == "send" && answered == ref, "it is said")
            try require(isSame(message.content, tree.text("content").text), "another content")
            try require(message.id == PlainJSON.uuid(tree.text("id").text), "another id")
            try check(message.target, tree)
        case .history(let conversation, let after, let limit, let answered):
            try require(tree.text("type").text == "history" && answered == ref, "it is asked for")
            try require(conversation == PlainJSON.uuid(tree.text("conversation").text), "another conversation")
            try require(after >= 0 && limit > 0, "from \(after), \(limit) of them")
        case .react(let reaction, let answered):
            try require(tree.text("type").text == "react" && answered == ref, "it is a reaction")
            try require(reaction.conversation == PlainJSON.uuid(tree.text("conversation").text), "another conversation")
            try require(reaction.message == PlainJSON.uuid(tree.text("messageId").text), "another message")
            try require(isSame(reaction.emoji.text, tree.text("emoji").text), "another emoji")
        case .refused(let error, let answered):
            try require(error.status == 400 && error.code == "invalid_request", "refused as \(error)")
            // A message without a type may be answered without a `ref`.
            try require(answered == nil || isSame(answered ?? "", ref), "answered under \(answered ?? "")")
            if tree.text("type").text != nil, ref != nil { try require(answered != nil, "answered under nothing") }
        }
    }

    private static func check(_ target: MessageTarget, _ tree: PlainJSON) throws(BrokenProperty) {
        switch target {
        case .conversation(let conversation):
            try require(conversation == PlainJSON.uuid(tree.text("conversation").text), "another conversation")
        case .conversations(let conversations):
            try require(
                (1...MessageTarget.maximumConversations).contains(conversations.count)
                    && Set(conversations).count == conversations.count, "\(conversations.count) conversations")
        case .participants(let names):
            try require(
                isSame(names.map(\.text).joined(separator: "."), tree.text("routingKey").text), "another routing key")
        }
    }

    /// Compares byte for byte.
    private static func isSame(_ text: String, _ other: String?) -> Bool {
        other.map { Array(text.utf8) == Array($0.utf8) } ?? false
    }

    private static func read(_ content: [UInt8]) -> ConversationCommand {
        withExactMemory(content) { ConversationCommand(UnsafeRawBufferPointer($0)) }
    }
}

extension ConversationCommand {
    fileprivate func isRefused(ref: String?) -> Bool {
        if case .refused(_, ref) = self { true } else { false }
    }
}
