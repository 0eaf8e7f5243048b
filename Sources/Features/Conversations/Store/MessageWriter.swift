import Basics
import Domain
import FoundationEssentials
import Postgres

/// Stores messages: a single one by its own statement, several by one statement. A disk commits only some hundred times
/// per second, and the messages of a conversation are stored one after the other. Messages that arrive during a commit
/// are therefore stored together afterwards.
///
/// | several messages              | each message                                                               |
/// |-------------------------------|----------------------------------------------------------------------------|
/// | are answered                  | has its own outcome; a refused one doesn't affect the others               |
/// | fail because of one of them   | isn't stored yet; each is then stored alone, in order                      |
/// | fail because of the database  | has this failure, whose outcome may be unknown; the sender repeats it      |
struct MessageWriter: Sendable {
    /// A message to a known conversation.
    struct Message: Sendable {
        let device: DeviceID
        let conversation: UUID
        let id: UUID
        let content: String
    }

    typealias Sent = ConversationStore.Sent
    private typealias Statement = ConversationStore.Statement

    /// The number of lanes. While the messages of one lane are committed, those of the other are checked. More lanes
    /// don't help, because PostgreSQL commits transactions with NOTIFY one after the other.
    static let lanes = 2
    /// The limits of a lane.
    static let limits = GatheringLimits(
        itemsPerCall: 100, bytesPerCall: 262_144, waitingItems: 5_000, waitingBytes: 16_777_216)

    let database: PostgresClient
    let settings: ConversationSettings
    let storage: StorageQuota
    let origin: String

    // MARK: Several messages

    /// Stores messages, and returns the outcome of each.
    func store(_ messages: [Message]) async throws -> [Result<Sent, any Error>] {
        if messages.count == 1 { return [await alone(messages[0])] }
        let rows: PostgresRows
        do {
            rows = try await database.query(
                Statement.sendTogether,
                [
                    .textArray(messages.map(\.device.text)), .uuidArray(messages.map(\.conversation)),
                    .uuidArray(messages.map(\.id)), .textArray(messages.map(\.content)),
                    .integer(settings.perDevice), .boolean(!storage.isFull(.messages)), .text(origin),
                ])
        } catch let error as PostgresError where error.hasNoEffectByStatement {
            var outcomes: [Result<Sent, any Error>] = []
            var lost: PostgresError?
            for message in messages {
                // If the database is unavailable, the remaining messages fail at once instead of waiting one after the
                // other.
                let outcome: Result<Sent, any Error> = if let lost { .failure(lost) } else { await alone(message) }
                if case .failure(let error as PostgresError) = outcome, case .unavailable = error.kind { lost = error }
                outcomes.append(outcome)
            }
            return outcomes
        }
        var outcomes = [Result<Sent, any Error>](repeating: .failure(Self.unanswered), count: messages.count)
        for row in rows {
            let place = try row.integer("place") - 1
            guard outcomes.indices.contains(place) else { throw Self.unanswered }
            do {
                outcomes[place] = .success(Sent(entries: [try entry(row)]))
            } catch {
                outcomes[place] = .failure(error)
            }
        }
        return outcomes
    }

    private static let unanswered = PostgresError(kind: .decoding, message: "no outcome of a message")

    private func alone(_ message: Message) async -> Result<Sent, any Error> {
        do {
            return .success(
                try await store(
                    message.content, by: message.device, in: [message.conversation], [message.id], to: nil))
        } catch {
            return .failure(error)
        }
    }

    // MARK: Single messages

    /// Stores a message in all of these conversations, or in none. If `names` is given, stores it in the conversation
    /// of exactly these users. If there is none yet, creates one in the space of `newConversation`.
    func store(
        _ content: String, by device: DeviceID, in conversations: [UUID], _ ids: [UUID], to names: [String]?,
        newConversation: StorageReservation? = nil
    ) async throws -> Sent {
        try await store(
            Statement.send,
            [
                .text(device.text), .uuidArray(conversations), .uuidArray(ids),
                .text(content), names.map { .textArray($0) } ?? .null,
            ], newConversation: newConversation)
    }

    /// Runs `send_messages`, or another function with the same result columns.
    func store(
        _ statement: PostgresStatement, _ what: [PostgresParameter], newConversation: StorageReservation? = nil
    ) async throws -> Sent {
        func send() async throws -> PostgresRows {
            try await database.query(
                statement,
                what + [
                    .integer(settings.perDevice), .boolean(!storage.isFull(.messages)),
                    .boolean(newConversation?.isGranted ?? !storage.isFull(.conversations)), .text(origin),
                ])
        }
        let rows: PostgresRows
        do {
            rows = try await send()
        } catch let error as PostgresError where error.kind == .server(sqlState: "23505") {
            // Another transaction has just taken the id, perhaps for the same message. The second attempt sees that
            // row.
            rows = try await send()
        }
        let codes = try rows.map { try $0.string("code") }
        if codes.contains("conversations_full"), let refusal = newConversation?.refusal { throw refusal }
        return Sent(entries: try rows.map { try entry($0) })
    }

    private func entry(_ row: PostgresRow) throws -> Sent.Entry {
        let code = try row.string("code")
        guard ["sent", "repeated"].contains(code) else { throw try settings.refusal(code) }
        if code == "sent" { storage.added(.messages) }
        let makesConversation = try row.boolean("makes_conversation")
        if makesConversation { storage.added(.conversations) }
        let message = try ConversationMessage(row)
        let page = ConversationPage(
            conversation: message.conversation, kind: try Conversation.Kind(row), messages: [message],
            lastOffset: message.offset, routingKey: try row.string("names"), epoch: try row.string("epoch"))
        return Sent.Entry(page: page, isNew: code == "sent", makesConversation: makesConversation)
    }
}

extension PostgresError {
    /// Whether the statement had no effect, for a reason other than the state of the database.
    fileprivate var hasNoEffectByStatement: Bool {
        switch kind {
        case .server, .conflict, .invalidParameter: true
        case .unavailable, .refused, .decoding, .shutDown: false
        }
    }
}
