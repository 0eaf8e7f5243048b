import Basics
package import Domain
package import FoundationEssentials
package import Postgres

/// Conversations in the database. Every operation is one statement and one transaction. Messages sent at the same time
/// share one statement (``MessageWriter``). The transaction includes the NOTIFY, so PostgreSQL notifies daemons only of
/// changes that were stored. The methods throw `PostgresError`, or `RequestError` if the request is refused.
///
/// ```
/// NOTIFY letsswitch_messages        payload: ``MessageNotice``
/// NOTIFY letsswitch_conversations   payload: ``ConversationNotice`` or ``ReactionNotice``
/// ```
package struct ConversationStore: Sendable {
    package static let channel = "letsswitch_messages"
    package static let changesChannel = "letsswitch_conversations"
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
    enum Statement {
        static let all = [
            takeName, make, askPartner, participant, send, sendTogether, receive, userName, userNames, users,
            conversations,
            positions, histories, messages, messagesByName, react, reactions,
        ]

        static let takeName = PostgresStatement(
            name: "take_name", sql: "SELECT conversations.take_name($1, $2, $3) AS code")
        static let make = PostgresStatement(
            name: "make_conversation", sql: "SELECT * FROM conversations.make_conversation($1, $2, $3, $4, $5)")
        static let askPartner = PostgresStatement(
            name: "ask_partner", sql: "SELECT * FROM conversations.ask_partner($1, $2, $3, $4, $5, $6)")
        static let participant = PostgresStatement(
            name: "set_participant", sql: "SELECT * FROM conversations.set_participant($1, $2, $3, $4)")
        static let send = PostgresStatement(
            name: "send_messages",
            sql: """
                SELECT * FROM conversations.send_messages($1, $2::uuid[], $3::uuid[], $4, $5, $6, $7, $8, $9)
                """)
        static let sendTogether = PostgresStatement(
            name: "send_together",
            sql: """
                SELECT * FROM conversations.send_together($1, $2::uuid[], $3::uuid[], $4, $5, $6, $7)
                """)
        static let receive = PostgresStatement(
            name: "receive_message",
            sql: "SELECT * FROM conversations.receive_message($1, $2::uuid, $3::uuid, $4, $5, $6, $7, $8, $9)")
        static let userName = PostgresStatement(
            name: "user_of", sql: "SELECT name FROM conversations.user_of($1)")
        static let userNames = PostgresStatement(
            name: "user_names", sql: "SELECT * FROM conversations.user_names($1::bigint[])")
        static let users = PostgresStatement(
            name: "list_users", sql: "SELECT name FROM conversations.list_users($1, $2)")
        static let conversations = PostgresStatement(
            name: "list_conversations", sql: "SELECT * FROM conversations.list_conversations($1, $2, $3, $4)")
        static let positions = PostgresStatement(
            name: "conversation_positions", sql: "SELECT * FROM conversations.positions($1, $2)")
        static let histories = PostgresStatement(
            name: "conversation_histories",
            sql: "SELECT * FROM conversations.histories($1, $2::uuid, $3, $4::uuid[], $5)")
        static let messages = PostgresStatement(
            name: "list_messages", sql: "SELECT * FROM conversations.list_messages($1, $2, $3, $4, $5, $6)")
        static let messagesByName = PostgresStatement(
            name: "list_messages_by_name",
            sql: """
                SELECT seen.* FROM conversations.chat_user AS own
                CROSS JOIN LATERAL conversations.list_messages(own.device_id, $2, $3, $4, $5, $6) AS seen
                WHERE own.name = $1
                """)
        static let react = PostgresStatement(
            name: "react", sql: "SELECT * FROM conversations.react($1, $2::uuid, $3::uuid, $4, $5, $6)")
        static let reactions = PostgresStatement(
            name: "reactions_of", sql: "SELECT * FROM conversations.reactions_of($1::uuid, $2::bigint[], $3)")
    }

    let database: PostgresClient
    let settings: ConversationSettings
    let storage: StorageQuota
    /// Identifies this daemon in notifications of messages. Contains no space.
    package let origin: String
    let writer: MessageWriter
    /// The writers of messages. The conversation decides which one is used. The writers store messages at the same time
    /// and don't wait for each other.
    let lanes: [GatheredCalls<MessageWriter.Message, Sent>]

    package init(database: PostgresClient, settings: ConversationSettings, storage: StorageQuota) {
        self.database = database
        self.settings = settings
        self.storage = storage
        let origin = String(UInt64.random(in: .min ... .max), radix: 36)
        let writer = MessageWriter(database: database, settings: settings, storage: storage, origin: origin)
        self.origin = origin
        self.writer = writer
        lanes = (0..<MessageWriter.lanes).map { _ in
            GatheredCalls(MessageWriter.limits, on: database.executor) { try await writer.store($0) }
        }
    }

    // MARK: Users

    /// Gives a device its name.
    ///
    /// - Parameter wait: Called for a new name. Returns the seconds for which new names are refused, or `nil` if the
    ///   name may be taken.
    /// - Returns: Whether the name is new.
    package func take(
        _ name: UserName, for device: DeviceID, wait: () -> Int? = { nil }
    ) async throws -> Bool {
        guard try await code(of: name, for: device, hasRoom: false) == "users_full" else { return false }
        guard !storage.isFull(.users) else { throw RequestError.storageFull(.users) }
        if let seconds = wait() { throw RequestError.tooManyNames(for: seconds) }
        guard try await code(of: name, for: device, hasRoom: true) == "made" else { return false }
        storage.added(.users)
        return true
    }

    /// Returns the result of taking a name: `made`, `repeated`, or `users_full` if there is no space for a new name.
    private func code(of name: UserName, for device: DeviceID, hasRoom: Bool) async throws -> String {
        let code = try await database.query(
            Statement.takeName, [.text(device.text), .text(name.text), .boolean(hasRoom)])[0].string("code")
        guard ["made", "repeated", "users_full"].contains(code) else { throw try settings.refusal(code) }
        return code
    }

    /// Returns a device's name, or `nil` if it has none.
    package func name(of device: DeviceID) async throws -> String? {
        try await database.query(Statement.userName, [.text(device.text)]).first?.string("name")
    }

    /// Returns the names of these users, by number. Erased users are missing.
    package func names(of users: [Int]) async throws -> [Int: String] {
        var names: [Int: String] = [:]
        for row in try await database.query(Statement.userNames, [.textArray(users.map(String.init))]) {
            names[try row.integer("id")] = try row.string("name")
        }
        return names
    }

    /// Returns the names that begin with `prefix`, in order.
    package func users(prefix: String) async throws -> [String] {
        try await database.query(Statement.users, [.text(prefix), .integer(ConversationPage.maximumCount)])
            .map { try $0.string("name") }
    }

    // MARK: Conversations

    /// Creates a conversation, unless the two users already have one or the id exists.
    package func make(_ request: NewConversationRequest) async throws -> (conversation: Conversation, isNew: Bool) {
        let reservation = storage.reserve(in: .conversations)
        let row = try await storage.using(reservation) {
            try await database.query(
                Statement.make,
                [
                    .text(request.device.text), .text((request.id ?? UUID()).text),
                    .textArray(request.participants.map(\.text)), .integer(settings.perDevice),
                    .boolean(reservation.isGranted),
                ])[0]
        }
        let code = try row.string("code")
        if code == "made" { storage.added(.conversations) } else { storage.giveBack(reservation) }
        if code == "conversations_full", let refusal = reservation.refusal { throw refusal }
        guard ["made", "there"].contains(code) else { throw try settings.refusal(code) }
        return (try Conversation(row), code == "made")
    }

    /// Performs a participant's action: marks messages as read, mutes, or leaves.
    package func set(_ request: ParticipantRequest, in conversation: UUID) async throws -> Conversation {
        let (word, value): (String, Int) =
            switch request.action {
            case .read(let offset): ("read", offset)
            case .mute(let isMuted): ("mute", isMuted ? 1 : 0)
            case .leave: ("leave", 0)
            }
        let row = try await database.query(
            Statement.participant,
            [.text(request.device.text), .text(conversation.text), .text(word), .integer(value)])[0]
        let code = try row.string("code")
        guard code == "done" else { throw try RequestError.conversationRefused(code) }
        return try Conversation(row)
    }
}

extension RequestError {
    package static let noSuchConversation = RequestError(
        status: 404, code: "no_such_conversation", reason: "There is no such conversation.")
    package static let nameRequired = RequestError(
        status: 409, code: "name_required", reason: "This device has no name yet. Choose one with POST /users.")
    static func tooManyNames(for seconds: Int) -> RequestError {
        RequestError(
            status: 429, code: "too_many_names",
            reason: "This address has reached its hourly limit of new names. Try again later.",
            retryAfter: seconds, quota: .namesPerHour)
    }
    static let noSuchTask = RequestError(
        status: 404, code: "no_such_task", reason: "This device has no such task.")
    static let noPartner = RequestError(
        status: 409, code: "no_partner", reason: "The task has no partner, or the partner's data was erased.")
    static let noSuchUser = RequestError(
        status: 404, code: "no_such_user", reason: "No user has this name.")
    static let idTaken = RequestError(
        status: 409, code: "id_taken", reason: "This id is already in use. Choose another UUID.")
    static let tooManyParticipants = RequestError.invalid(
        "participants",
        "must be at most \(Conversation.maximumParticipants), and their names joined by dots at most 255 bytes")

    /// Returns the refusal for the code of an SQL function.
    static func conversationRefused(_ code: String) throws -> RequestError {
        switch code {
        case "name_required": .nameRequired
        case "name_taken":
            RequestError(status: 409, code: code, reason: "This name is taken, or was used before. Choose another one.")
        case "has_name":
            RequestError(
                status: 409, code: code, reason: "This device already has a name, and a name can't be changed.")
        case "no_such_user": .noSuchUser
        case "no_such_conversation": .noSuchConversation
        case "id_taken": .idTaken
        case "other_participants":
            RequestError(
                status: 409, code: code, reason: "The conversation has other participants than the ones named.")
        case "no_such_task": .noSuchTask
        case "no_partner": .noPartner
        case "blocked":
            RequestError(status: 403, code: code, reason: "One of these people has blocked another of them.")
        case "too_few": .invalid("participants", "must name at least one other user")
        case "too_many": .tooManyParticipants
        default: throw PostgresError(kind: .decoding, message: "unknown code \(code)")
        }
    }
}
