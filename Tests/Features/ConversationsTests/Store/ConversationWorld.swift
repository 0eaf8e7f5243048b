import Domain
import Foundation
import ScheduleTestSupport
import Testing

@testable import Conversations

/// A store of conversations, and named devices: user1 has the device d1.
struct ConversationWorld {
    let database: ScheduleDatabase
    let store: ConversationStore

    init(
        _ database: ScheduleDatabase, users: ClosedRange<Int> = 1...5,
        settings: ConversationSettings = ConversationSettings(), storage: StorageLimits = StorageLimits()
    ) async throws {
        self.database = database
        store = ConversationStore(database: database.client, settings: settings, storage: StorageQuota(storage))
        for user in users { #expect(try await take("user\(user)", user)) }
    }

    func device(_ user: Int) -> DeviceID { DeviceID(stored: "d\(user)") }

    func take(_ name: String, _ user: Int) async throws -> Bool {
        try await store.take(UserName(name), for: device(user))
    }

    func make(_ user: Int, _ others: [Int], id: UUID? = nil) async throws -> (Conversation, isNew: Bool) {
        let made = try await store.make(
            NewConversationRequest(
                device: device(user), participants: try others.map { try UserName("user\($0)") }, id: id))
        return (made.conversation, made.isNew)
    }

    @discardableResult
    func send(
        _ user: Int, _ content: String, _ target: MessageTarget, id: UUID? = nil
    ) async throws -> ConversationStore.Sent {
        try await store.send(OutgoingMessage(content: content, target: target, id: id), by: device(user))
    }

    func set(_ user: Int, _ action: ParticipantAction, in conversation: UUID) async throws -> Conversation {
        try await store.set(ParticipantRequest(device: device(user), action: action), in: conversation)
    }

    func page(
        _ user: Int?, _ conversation: UUID, _ range: ConversationStore.MessageRange = .after(0), limit: Int = 100
    ) async throws -> ConversationPage {
        try await store.messages(in: conversation, range, limit: limit, for: user.map { device($0) })
    }

    func list(_ user: Int, before last: UUID? = nil) async throws -> [UUID] {
        let last = last.map { ConversationCursor(conversation: $0) }
        return try await store.conversations(of: device(user), before: last).conversations.map(\.id)
    }

    /// Runs the body with its own database, whose clock is at ten.
    static func with(
        _ users: ClosedRange<Int> = 1...5, settings: ConversationSettings = ConversationSettings(),
        storage: StorageLimits = StorageLimits(), _ body: (ConversationWorld) async throws -> Void
    ) async throws {
        try await ScheduleDatabase.with(now: "2026-11-22T10:00:00Z") { database in
            try await body(ConversationWorld(database, users: users, settings: settings, storage: storage))
        }
    }

    /// Returns the recipients of a message by their names.
    static func names(_ users: [Int]) throws -> MessageTarget {
        .participants(try users.map { try UserName("user\($0)") })
    }
}
