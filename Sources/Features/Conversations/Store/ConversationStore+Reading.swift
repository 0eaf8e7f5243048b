package import Domain
package import FoundationEssentials
import Postgres

/// A device's user, and the positions of the user's conversations.
package struct ConversationPositions: Sendable, Hashable {
    package let user: String
    /// The number of the user, for places that are too small for a name. It is never reused.
    package let userID: Int
    /// The positions, the latest conversation first. Conversations that the user has left come last, with their
    /// positions at that time.
    package let offsets: [Position]

    package struct Position: Sendable, Hashable {
        package let conversation: UUID
        package let lastOffset: Int
        package let hasLeft: Bool

        package init(conversation: UUID, lastOffset: Int, hasLeft: Bool = false) {
            self.conversation = conversation
            self.lastOffset = lastOffset
            self.hasLeft = hasLeft
        }
    }

    package init(user: String, userID: Int, offsets: [Position]) {
        self.user = user
        self.userID = userID
        self.offsets = offsets
    }
}

/// The statements that read conversations.
extension ConversationStore {
    /// The maximum number of conversations that are read for one device. The number is the sum of the conversations
    /// that count against the device's quota, the same number of unanswered ones, and 1,000 that the user has left.
    private var positionLimit: Int { 2 * settings.perDevice + 1_000 }

    /// Returns a page of a device's conversations, the latest first. Throws ``Domain/RequestError/nameRequired`` if the
    /// device has no name.
    ///
    /// - Parameter last: The end of the previous page. Throws ``Domain/RequestError/noSuchConversation`` if it is
    ///   neither one of the device's conversations nor the end of a page.
    package func conversations(
        of device: DeviceID, before last: ConversationCursor? = nil
    ) async throws -> ConversationList {
        let rows = try await database.query(
            Statement.conversations,
            [
                .text(device.text), last.map { .text($0.conversation.text) } ?? .null,
                last?.usedAt.map { .integer($0) } ?? .null, .integer(ConversationPage.maximumCount + 1),
            ])
        guard let first = rows.first else { throw RequestError.nameRequired }
        guard try first.boolean("is_beyond") else { throw RequestError.noSuchConversation }
        var list = ConversationList()
        var bytes = 0
        for row in rows where try !row.isNull("conversation_id") {
            let conversation = try Conversation(row)
            // Adds one byte for the comma.
            bytes += conversation.json.count + 1
            // A page has at least one conversation, even if it exceeds the limit of bytes.
            let fits = list.conversations.isEmpty || bytes <= ConversationPage.maximumBytes
            guard fits, list.conversations.count < ConversationPage.maximumCount else { return list }
            list.conversations.append(conversation)
            list.next = ConversationCursor(conversation: conversation.id, usedAt: try row.integer("used_at"))
        }
        list.next = nil
        return list
    }

    /// Returns the positions of a device's conversations. Throws ``Domain/RequestError/nameRequired`` if the device has
    /// no name.
    package func positions(of device: DeviceID) async throws -> ConversationPositions {
        let rows = try await database.query(Statement.positions, [.text(device.text), .integer(positionLimit)])
        guard let first = rows.first else { throw RequestError.nameRequired }
        return ConversationPositions(
            user: try first.string("name"), userID: try first.integer("user_id"),
            offsets: try rows.filter { try !$0.isNull("conversation_id") }.map { row in
                ConversationPositions.Position(
                    conversation: try row.uuid("conversation_id"), lastOffset: try row.integer("last_number"),
                    hasLeft: try row.boolean("has_left"))
            })
    }

    /// Returns which messages of a device's conversations can be repeated.
    ///
    /// - Parameters:
    ///   - only: The only conversation to include. `nil` for all.
    ///   - since: The time in epoch seconds for which offsets are returned.
    ///   - named: Conversations whose offset at that time isn't needed.
    package func histories(
        of device: DeviceID, only: UUID? = nil, since: Int?, named: [UUID] = []
    ) async throws -> [UUID: KeptHistory] {
        let rows = try await database.query(
            Statement.histories,
            [
                .text(device.text), only.map { .text($0.text) } ?? .null,
                since.map { .integer($0) } ?? .null, .uuidArray(named),
                .integer(positionLimit),
            ])
        var histories: [UUID: KeptHistory] = [:]
        for row in rows {
            histories[try row.uuid("conversation_id")] = KeptHistory(
                epoch: try row.string("epoch"), lastOffset: try row.integer("last_number"),
                firstOffset: try row.integer("first_number"), sinceOffset: try row.optionalInteger("since_number"))
        }
        return histories
    }

    /// The range of requested messages in a conversation.
    package enum MessageRange: Sendable, Hashable {
        /// The first messages after an offset.
        case after(Int)
        /// The last messages before an offset.
        case before(Int)
    }

    /// Returns a conversation as all participants see it, with its last message that isn't deleted.
    ///
    /// - Parameter user: A user that has left, to get the state at that time. Throws
    ///   ``Domain/RequestError/noSuchConversation`` unless the user took part.
    package func summary(of conversation: UUID, for user: String? = nil) async throws -> ConversationPage {
        let statement = user == nil ? Statement.messages : Statement.messagesByName
        return try await messages(in: conversation, .before(.max), limit: 1, statement, user)
    }

    /// Returns a page of messages in the order of their offsets.
    ///
    /// - Parameter device: The device that reads. Throws ``Domain/RequestError/noSuchConversation`` unless its user
    ///   takes part. `nil` for the server itself, which publishes new messages without reactions.
    package func messages(
        in conversation: UUID, _ range: MessageRange, limit: Int = ConversationPage.maximumCount, for device: DeviceID?
    ) async throws -> ConversationPage {
        let page = try await messages(in: conversation, range, limit: limit, Statement.messages, device?.text)
        guard device != nil else { return page }
        return page.adding(try await reactions(to: page.messages, in: conversation), from: range)
    }

    /// Returns a page of messages.
    ///
    /// - Parameter reader: The device or the user that reads, as a parameter of the statement.
    private func messages(
        in conversation: UUID, _ range: MessageRange, limit: Int, _ statement: PostgresStatement, _ reader: String?
    ) async throws -> ConversationPage {
        let (after, before): (Int, Int?) =
            switch range {
            case .after(let offset): (offset, nil)
            case .before(let offset): (0, offset)
            }
        let rows = try await database.query(
            statement,
            [
                reader.map { .text($0) } ?? .null, .text(conversation.text), .integer(after),
                before.map { .integer($0) } ?? .null, .integer(min(limit, ConversationPage.maximumCount)),
                .integer(ConversationPage.maximumBytes),
            ])
        guard let first = rows.first else { throw RequestError.noSuchConversation }
        let messages = try rows.filter { try !$0.isNull("number") }
            .map { try ConversationMessage($0, in: conversation) }
        return ConversationPage(
            conversation: conversation, kind: try Conversation.Kind(first), messages: messages,
            lastOffset: try first.integer("last_number"),
            routingKey: try first.string("names"), epoch: try first.string("epoch"))
    }
}
