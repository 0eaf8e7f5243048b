package import Domain
package import FoundationEssentials
import Postgres

/// Where a user's conversations stand.
package struct ConversationPositions: Sendable, Hashable {
    package let user: String
    /// What stands for the user where names don't fit. Nobody else's, ever.
    package let userID: Int
    /// The latest first, and behind them those that it has left, with where they stood then.
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

/// What is read of conversations.
extension ConversationStore {
    /// How many conversations are read of one device: those that count against its quota, as many again that it has not answered, and
    /// 1,000 that it has left.
    private var positionLimit: Int { 2 * settings.perDevice + 1_000 }

    /// A device's conversations, the latest first; throws ``Domain/RequestError/nameRequired`` if it has no name.
    ///
    /// - Parameter last: Beyond this one; throws ``Domain/RequestError/noSuchConversation`` unless it is one of them, or a list's end.
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
            // With the comma.
            bytes += conversation.json.count + 1
            // One at least, whatever its length.
            let fits = list.conversations.isEmpty || bytes <= ConversationPage.maximumBytes
            guard fits, list.conversations.count < ConversationPage.maximumCount else { return list }
            list.conversations.append(conversation)
            list.next = ConversationCursor(conversation: conversation.id, usedAt: try row.integer("used_at"))
        }
        list.next = nil
        return list
    }

    /// Throws ``Domain/RequestError/nameRequired`` if the device has no name.
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

    /// From where on a device's conversations can be told anew.
    ///
    /// - Parameters:
    ///   - only: That one; `nil`: all.
    ///   - since: In epoch seconds.
    ///   - named: Of which it needs not be known what was said since then.
    package func histories(
        of device: DeviceID, only: UUID? = nil, since: Int?, named: [UUID] = []
    ) async throws -> [UUID: KeptHistory] {
        let rows = try await database.query(
            Statement.histories,
            [
                .text(device.text), only.map { .text($0.text) } ?? .null,
                since.map { .double(Double($0)) } ?? .null, .uuidArray(named),
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

    /// Which messages of a conversation are wanted.
    package enum MessageRange: Sendable, Hashable {
        /// The first behind an offset.
        case after(Int)
        /// The last before an offset.
        case before(Int)
    }

    /// A conversation as all see it who take part: with its last message, if there is one that isn't purged.
    ///
    /// - Parameter user: As it stood for this one, if it has left; throws ``Domain/RequestError/noSuchConversation`` unless it was in it.
    package func summary(of conversation: UUID, for user: String? = nil) async throws -> ConversationPage {
        let statement = user == nil ? Statement.messages : Statement.messagesByName
        return try await messages(in: conversation, .before(.max), limit: 1, statement, user)
    }

    /// In the order of their offsets, as much as fits.
    ///
    /// - Parameter device: Who asks; throws ``Domain/RequestError/noSuchConversation`` unless it is in the conversation. `nil`: the server.
    package func messages(
        in conversation: UUID, _ range: MessageRange, limit: Int = ConversationPage.maximumCount, for device: DeviceID?
    ) async throws -> ConversationPage {
        try await messages(in: conversation, range, limit: limit, Statement.messages, device?.text)
    }

    /// - Parameter reader: Who asks, as the statement has it.
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
