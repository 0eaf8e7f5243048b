package import Domain
import FoundationEssentials
import Postgres

/// The statements that add, remove and read reactions.
extension ConversationStore {
    /// The result of adding or removing a reaction.
    package struct Reacted: Sendable {
        /// The message with its reactions.
        package let message: ConversationMessage
        /// Whether anything has changed. `false` for a repeat.
        package let isNew: Bool
    }

    /// Adds a device's reaction, or removes it.
    package func react(_ request: ReactionRequest, by device: DeviceID) async throws -> Reacted {
        let row = try await database.query(
            Statement.react,
            [
                .text(device.text), .text(request.conversation.text), .text(request.message.text),
                .text(request.emoji.text), .boolean(request.action == .add), .boolean(!storage.isFull(.messages)),
            ])[0]
        let code = try row.string("code")
        guard ["added", "removed", "repeated"].contains(code) else { throw try Self.refusal(code, settings) }
        var message = try ConversationMessage(row)
        message.reactions = try await reactions(to: [message], in: request.conversation)[message.offset] ?? []
        return Reacted(message: message, isNew: code != "repeated")
    }

    /// Returns the reactions to messages of a conversation, by their offsets.
    func reactions(to messages: [ConversationMessage], in conversation: UUID) async throws -> [Int: [Reaction]] {
        // A message of an erased author doesn't show its reactions.
        let offsets = messages.filter { !$0.author.isEmpty }.map(\.offset)
        guard !offsets.isEmpty else { return [:] }
        let rows = try await database.query(
            Statement.reactions,
            [.text(conversation.text), .integerArray(offsets), .integer(Reaction.maximumNames)])
        var reactions: [Int: [Reaction]] = [:]
        for row in rows {
            let reaction = Reaction(
                emoji: try row.string("emoji"), count: try row.integer("count"),
                users: try row.string("names").split(separator: ".").map(String.init))
            reactions[try row.integer("number"), default: []].append(reaction)
        }
        return reactions
    }

    private static func refusal(_ code: String, _ settings: ConversationSettings) throws -> RequestError {
        switch code {
        case "no_such_message": .noSuchMessage
        case "too_many_reactions": .tooManyReactions
        default: try settings.refusal(code)
        }
    }
}

extension ConversationPage {
    /// Returns the page with the reactions to its messages. If this exceeds ``maximumBytes``, the page gets fewer
    /// messages, but at least one.
    ///
    /// - Parameter range: The requested range. The range decides from which end messages are removed.
    func adding(_ reactions: [Int: [Reaction]], from range: ConversationStore.MessageRange) -> ConversationPage {
        guard !reactions.isEmpty else { return self }
        var all = messages
        for index in all.indices { all[index].reactions = reactions[all[index].offset] ?? [] }
        var (count, bytes) = (0, 0)
        for message in range.isUpwards ? all : all.reversed() {
            // Adds one byte for the comma.
            bytes += message.json.count + 1
            guard count == 0 || bytes <= Self.maximumBytes else { break }
            count += 1
        }
        let kept = range.isUpwards ? all.prefix(count) : all.suffix(count)
        return ConversationPage(
            conversation: conversation, kind: kind, messages: Array(kept), lastOffset: lastOffset,
            routingKey: routingKey, epoch: epoch)
    }
}

extension ConversationStore.MessageRange {
    fileprivate var isUpwards: Bool {
        if case .after = self { true } else { false }
    }
}

extension RequestError {
    static let noSuchMessage = RequestError(
        status: 404, code: "no_such_message",
        reason: "The conversation has no such message, or the message's author was erased.")
    /// Status `409`. `conversations.add_reaction` contains the same numbers.
    static let tooManyReactions = RequestError(
        status: 409, code: "too_many_reactions",
        reason: "A message can have 20 different emoji, and 5 of each person. Remove a reaction first.")
}
