import Basics
import Domain
import FoundationEssentials
import Postgres

/// Stores what is said: one message by a statement of its own, several that came at the same time by one for all. A disk commits some
/// hundred times a second, and one conversation's messages are stored one after the other: so what comes while others are on their way to
/// the disk goes there together, next.
///
/// | several at once              | each                                                                  |
/// |------------------------------|-----------------------------------------------------------------------|
/// | are answered                 | has its own outcome; what is refused leaves the others alone          |
/// | fail, as one of them fails   | none was stored: each by itself, in order                             |
/// | fail, as the database does   | has that failure, whose outcome may be unknown: the sender repeats it |
struct MessageWriter: Sendable {
    /// A message to a conversation that is known.
    struct Message: Sendable {
        let device: DeviceID
        let conversation: UUID
        let id: UUID
        let content: String
    }

    typealias Sent = ConversationStore.Sent
    private typealias Statement = ConversationStore.Statement

    /// While one's messages are committed, the other's are looked at. More commit no sooner: PostgreSQL commits what notifies one after
    /// the other.
    static let lanes = 2
    /// Of a lane.
    static let limits = GatheringLimits(
        itemsPerCall: 100, bytesPerCall: 262_144, waitingItems: 5_000, waitingBytes: 16_777_216)

    let database: PostgresClient
    let settings: ConversationSettings
    let storage: StorageQuota
    let origin: String

    // MARK: Several

    /// The outcome of each.
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
                // Once the database is away, the others aren't kept waiting for it one by one.
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

    // MARK: One

    /// Says something in all of these, or in none; with names in the conversation of exactly these.
    func store(
        _ content: String, by device: DeviceID, in conversations: [UUID], _ ids: [UUID], to names: [String]?
    ) async throws -> Sent {
        try await store(
            Statement.send,
            [
                .text(device.text), .uuidArray(conversations), .uuidArray(ids),
                .text(content), names.map { .textArray($0) } ?? .null,
            ])
    }

    /// By `send_messages`, or what answers as that does.
    func store(_ statement: PostgresStatement, _ what: [PostgresParameter]) async throws -> Sent {
        func send() async throws -> PostgresRows {
            try await database.query(
                statement,
                what + [
                    .integer(settings.perDevice), .boolean(!storage.isFull(.messages)),
                    .boolean(!storage.isFull(.conversations)), .text(origin),
                ])
        }
        let rows: PostgresRows
        do {
            rows = try await send()
        } catch let error as PostgresError where error.kind == .server(sqlState: "23505") {
            // Somebody took the id at this moment, perhaps with the same: the second time that is seen.
            rows = try await send()
        }
        return Sent(entries: try rows.map { try entry($0) })
    }

    private func entry(_ row: PostgresRow) throws -> Sent.Entry {
        let code = try row.string("code")
        guard ["sent", "repeated"].contains(code) else { throw try settings.refusal(code) }
        if code == "sent" { storage.added(.messages) }
        if try row.boolean("makes_conversation") { storage.added(.conversations) }
        let message = try ConversationMessage(row)
        let page = ConversationPage(
            conversation: message.conversation, kind: try Conversation.Kind(row), messages: [message],
            lastOffset: message.offset, routingKey: try row.string("names"), epoch: try row.string("epoch"))
        return Sent.Entry(page: page, isNew: code == "sent")
    }
}

extension PostgresError {
    /// The statement itself is why it had no effect, not the state of the database.
    fileprivate var hasNoEffectByStatement: Bool {
        switch kind {
        case .server, .conflict, .invalidParameter: true
        case .unavailable, .refused, .decoding, .shutDown: false
        }
    }
}
