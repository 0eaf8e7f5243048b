package import Domain
package import FoundationEssentials
import Postgres

/// Where a user's conversations stand.
package struct ConversationPositions: Sendable, Hashable {
    package let user: String
    /// The latest first.
    package let offsets: [Position]

    package struct Position: Sendable, Hashable {
        package let conversation: UUID
        package let lastOffset: Int

        package init(conversation: UUID, lastOffset: Int) {
            self.conversation = conversation
            self.lastOffset = lastOffset
        }
    }

    package init(user: String, offsets: [Position]) {
        self.user = user
        self.offsets = offsets
    }
}

/// What is read of conversations.
extension ConversationStore {
    /// A device's conversations, the latest first; throws ``Domain/RequestError/nameRequired`` if it has no name.
    ///
    /// - Parameter last: Beyond this one, if it is one of them.
    package func conversations(of device: DeviceID, before last: UUID?) async throws -> [Conversation] {
        let rows = try await database.query(
            Statement.conversations,
            [
                .text(device.text), last.map { .text($0.uuidString) } ?? .null,
                .integer(ConversationPage.maximumCount),
            ])
        guard !rows.isEmpty else { throw RequestError.nameRequired }
        var conversations: [Conversation] = []
        var bytes = 0
        for row in rows where try !row.isNull("conversation_id") {
            let conversation = try Conversation(row)
            bytes += conversation.json.count
            // One at least, whatever its length.
            guard conversations.isEmpty || bytes <= ConversationPage.maximumBytes else { break }
            conversations.append(conversation)
        }
        return conversations
    }

    /// Throws ``Domain/RequestError/nameRequired`` if the device has no name.
    package func positions(of device: DeviceID) async throws -> ConversationPositions {
        let rows = try await database.query(Statement.positions, [.text(device.text)])
        guard let first = rows.first else { throw RequestError.nameRequired }
        return ConversationPositions(
            user: try first.string("name"),
            offsets: try rows.filter { try !$0.isNull("conversation_id") }.map { row in
                ConversationPositions.Position(
                    conversation: try row.uuid("conversation_id"), lastOffset: try row.integer("last_number"))
            })
    }

    /// Which messages of a conversation are wanted.
    package enum MessageRange: Sendable, Hashable {
        /// The first behind an offset.
        case after(Int)
        /// The last before an offset.
        case before(Int)
    }

    /// In the order of their offsets, as much as fits.
    ///
    /// - Parameter device: Who asks; throws ``Domain/RequestError/noSuchConversation`` unless it is in the conversation. `nil`: the server.
    package func messages(
        in conversation: UUID, _ range: MessageRange, limit: Int = ConversationPage.maximumCount, for device: DeviceID?
    ) async throws -> ConversationPage {
        let (after, before): (Int, Int?) =
            switch range {
            case .after(let offset): (offset, nil)
            case .before(let offset): (0, offset)
            }
        let rows = try await database.query(
            Statement.messages,
            [
                device.map { .text($0.text) } ?? .null, .text(conversation.uuidString), .integer(after),
                before.map { .integer($0) } ?? .null, .integer(min(limit, ConversationPage.maximumCount)),
            ])
        guard let first = rows.first else { throw RequestError.noSuchConversation }
        var messages = try rows.filter { try !$0.isNull("number") }
            .map { try ConversationMessage($0, in: conversation) }
        // One at least, whatever its length; the nearest to where the reader stands.
        if before != nil { messages.reverse() }
        var bytes = 0
        let count = messages.prefix { message in
            defer { bytes += message.size }
            return bytes == 0 || bytes + message.size <= ConversationPage.maximumBytes
        }.count
        messages.removeLast(messages.count - count)
        if before != nil { messages.reverse() }
        return ConversationPage(
            conversation: conversation, messages: messages, lastOffset: try first.integer("last_number"),
            routingKey: try first.string("names"))
    }
}
