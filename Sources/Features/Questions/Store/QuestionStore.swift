package import Domain
package import FoundationEssentials
package import Postgres

/// The question sessions in the database. Every operation is one statement and one transaction. The transaction
/// includes the NOTIFY, so only stored changes are reported. Throws `PostgresError`, and `RequestError` for refusals.
///
///     NOTIFY letsswitch_questions   payload: a session and its version, "<uuid> <number>"
package struct QuestionStore: Sendable {
    package static let channel = "letsswitch_questions"
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)
    /// The maximum number of questions of one asker per minute.
    package static let questionsPerMinute = 6
    /// The limits of announcements in one session. They are low because the whole audience receives each announcement.
    package static let announcementsPerMinute = 20
    package static let announcementsPerHour = 200
    /// The maximum number of announcements in one read.
    static let announcementLimit = 20

    /// The statements. Each runs in a transaction of its own.
    enum Statement {
        static let all = [
            makeSession, makeOpenSession, setSession, ask, moderate, vote, announce, list, changed, byID, announcements,
        ]

        static let makeSession = PostgresStatement(
            name: "make_question_session",
            sql: "SELECT questions.make_question_session($1, $2, $3, $4, $5, $6) AS code")
        static let makeOpenSession = PostgresStatement(
            name: "make_open_question_session", sql: "SELECT questions.make_open_question_session($1, $2)")
        static let setSession = PostgresStatement(
            name: "set_question_session", sql: "SELECT * FROM questions.set_question_session($1, $2, $3)")
        static let ask = PostgresStatement(
            name: "ask_question",
            sql: """
                SELECT *, \(PostgresStatement.microseconds("created_at"))
                FROM questions.ask_question($1, $2, $3, $4, $5, $6, $7, $8)
                """)
        static let moderate = PostgresStatement(
            name: "moderate_question", sql: "SELECT * FROM questions.moderate_question($1, $2, $3, $4, $5)")
        static let vote = PostgresStatement(
            name: "vote_questions",
            sql: """
                SELECT * FROM questions.vote_questions(
                    $1::uuid[], $2::uuid[], $3::uuid[], $4::boolean[])
                """)
        static let announce = PostgresStatement(
            name: "announce", sql: "SELECT * FROM questions.announce($1, $2, $3, $4::uuid[], $5, $6, $7)")
        static let list = PostgresStatement(
            name: "list_questions", sql: "SELECT * FROM questions.list_questions($1, $2, $3, $4)")
        static let changed = PostgresStatement(
            name: "changed_questions", sql: "SELECT * FROM questions.changed_questions($1, $2, $3)")
        static let byID = PostgresStatement(
            name: "questions_by_id", sql: "SELECT * FROM questions.questions_by_id($1::uuid[])")
        static let announcements = PostgresStatement(
            name: "announcements",
            sql: """
                SELECT version, content, recipients, array_to_string(ids, ' ') AS ids FROM questions.announcement
                WHERE session_id = $1 AND version > $2 ORDER BY version LIMIT $3
                """)
    }

    let database: PostgresClient
    private let settings: QuestionSettings
    private let storage: StorageQuota

    package init(database: PostgresClient, settings: QuestionSettings, storage: StorageQuota) {
        self.database = database
        self.settings = settings
        self.storage = storage
    }

    // MARK: Sessions

    package func makeSession(_ request: SessionRequest, key: PresenterKey) async throws -> QuestionSession {
        let reservation = storage.reserve(in: .sessions)
        if let refusal = reservation.refusal { throw refusal }
        let session = QuestionSession(id: UUID(), title: request.title, isModerated: request.isModerated)
        let row = try await storage.using(reservation) {
            try await database.query(
                Statement.makeSession,
                [
                    .text(session.id.text), .text(request.device.text), .text(session.title),
                    .boolean(session.isModerated), .text(try key.digest().text), .integer(settings.sessionsPerDevice),
                ])[0]
        }
        guard try row.string("code") == "made" else {
            storage.giveBack(reservation)
            throw RequestError(
                status: 429, code: "too_many_sessions",
                reason: "This device already has \(settings.sessionsPerDevice) question sessions, the maximum.",
                quota: .sessionsPerDevice)
        }
        storage.added(.sessions)
        return session
    }

    /// Creates ``QuestionSession/open`` if it doesn't exist.
    package func makeOpenSession() async throws {
        let session = QuestionSession.open
        _ = try await database.query(
            Statement.makeOpenSession, [.text(session.id.text), .text(session.title)])
    }

    /// Opens or closes a session.
    ///
    /// - Parameter keys: The presenter's keys of the request.
    package func set(
        _ session: UUID, to state: QuestionSession.State, keys: [PresenterKeyDigest]
    ) async throws -> QuestionSession {
        let row = try await database.query(
            Statement.setSession, [.text(session.text), .text(state.rawValue), .textArray(keys.map(\.text))])[0]
        try row.throwRefusal()
        return QuestionSession(
            id: session, title: try row.string("title"), state: state, isModerated: try row.boolean("is_moderated"),
            version: try row.integer("version"))
    }

    // MARK: Questions

    /// A stored question.
    package struct Asked: Sendable {
        package let id: UUID
        /// The time at which the question was stored, in epoch seconds.
        package let createdAt: Double
        package let version: Int
    }

    /// Stores a question.
    ///
    /// - Parameters:
    ///   - asker: The asker's id within the session.
    ///   - device: The asker's device, so that the question can be erased with it.
    ///   - present: The time for which the asker has been connected. An asker that connected before its device was
    ///     erased can't store questions.
    package func ask(
        _ content: String, in session: UUID, asker: UUID, device: DeviceID?, present: Duration = .zero
    ) async throws -> Asked {
        let reservation = storage.reserve(in: .questions)
        if let refusal = reservation.refusal { throw refusal }
        let id = UUID()
        let row = try await storage.using(reservation) {
            try await database.query(
                Statement.ask,
                [
                    .text(id.text), .text(session.text), .text(asker.text),
                    device.map { .text($0.text) } ?? .null, .text(content), .integer(Self.questionsPerMinute),
                    .integer(settings.questionsPerSession), .double(present / .seconds(1)),
                ])[0]
        }
        let code = try row.string("code")
        if code != "asked" { storage.giveBack(reservation) }
        switch code {
        case "asked":
            storage.added(.questions)
            return Asked(id: id, createdAt: try row.epoch("created_at_us"), version: try row.integer("version"))
        case "too_fast":
            throw RequestError(
                status: 429, code: "too_many_questions",
                reason:
                    "Too many questions: at most \(Self.questionsPerMinute) per minute are allowed. Please wait a little."
            )
        case "session_full":
            throw RequestError(
                status: 409, code: "session_full",
                reason: "The session already has \(settings.questionsPerSession) questions, the maximum.",
                quota: .questionsPerSession)
        case let code: throw try RequestError.refused(code)
        }
    }

    /// Performs a presenter's action on a question.
    ///
    /// - Parameters:
    ///   - keys: The presenter's keys of the request.
    ///   - opensAll: Whether every user is a presenter of ``QuestionSession/open``. Otherwise that session doesn't
    ///     exist.
    /// - Returns: The question in its new state, and its session's version.
    package func moderate(
        _ question: UUID, _ action: QuestionAction, answer: String? = nil, keys: [PresenterKeyDigest], opensAll: Bool
    ) async throws -> (question: Question, version: Int) {
        let row = try await database.query(
            Statement.moderate,
            [
                .text(question.text), .text(action.rawValue), answer.map { .text($0) } ?? .null,
                .textArray(keys.map(\.text)), .boolean(opensAll),
            ])[0]
        try row.throwRefusal()
        return (try Question(row), try row.integer("session_version"))
    }

    /// The outcome of a vote.
    package enum VoteOutcome: Sendable, Hashable {
        /// The vote is counted, now or before. `version` is the session's version after it.
        case counted(version: Int)
        case refused(RequestError)
    }

    /// Charges the vote to the share of the client's network, and then calls `count`. A withdrawal costs nothing.
    package func vote(
        _ vote: Vote, countedBy count: (Vote) async throws -> VoteOutcome
    ) async throws -> VoteOutcome {
        guard vote.isFor else { return try await count(vote) }
        let reservation = storage.reserve(in: .votes)
        if let refusal = reservation.refusal { return .refused(refusal) }
        let outcome = try await storage.using(reservation) { try await count(vote) }
        if case .refused = outcome { storage.giveBack(reservation) }
        return outcome
    }

    /// Counts votes in order.
    ///
    /// - Returns: The outcome of each vote.
    package func count(_ votes: [Vote]) async throws -> [VoteOutcome] {
        // If the quota is full, only withdrawals are counted.
        let isFull = storage.isFull(.votes)
        var outcomes = votes.map { VoteOutcome.refused(isFull && $0.isFor ? .storageFull(.votes) : .noSuchQuestion) }
        let places = votes.indices.filter { !isFull || !votes[$0].isFor }
        guard !places.isEmpty else { return outcomes }
        let counted = places.map { votes[$0] }
        let rows = try await database.query(
            Statement.vote,
            [
                .uuidArray(counted.map(\.session)), .uuidArray(counted.map(\.question)),
                .uuidArray(counted.map(\.voter)), .textArray(counted.map { $0.isFor ? "t" : "f" }),
            ])
        for row in rows {
            let place = try row.integer("place") - 1
            guard places.indices.contains(place) else { continue }
            let index = places[place]
            switch try row.string("code") {
            case "counted":
                if votes[index].isFor { storage.added(.votes) }
                outcomes[index] = .counted(version: try row.integer("version"))
            case let code: outcomes[index] = .refused(try RequestError.refused(code))
            }
        }
        return outcomes
    }

    /// Stores an announcement.
    ///
    /// - Returns: The session's version after it.
    package func announce(
        _ announcement: AnnouncementRequest, in session: UUID, keys: [PresenterKeyDigest]
    ) async throws -> Int {
        let (word, ids): (String, [UUID]) =
            switch announcement.recipients {
            case .all: ("all", [])
            case .ids(let ids): ("ids", Array(ids))
            case .allBut(let ids): ("allBut", Array(ids))
            }
        let row = try await database.query(
            Statement.announce,
            [
                .text(session.text), .text(announcement.content), .text(word),
                .uuidArray(ids), .textArray(keys.map(\.text)),
                .integer(Self.announcementsPerMinute), .integer(Self.announcementsPerHour),
            ])[0]
        guard try row.string("code") != "too_fast" else {
            throw RequestError(
                status: 429, code: "too_many_announcements",
                reason: """
                    Too many announcements: at most \(Self.announcementsPerMinute) per minute and \
                    \(Self.announcementsPerHour) per hour are allowed. Please wait a little.
                    """)
        }
        try row.throwRefusal()
        return try row.integer("version")
    }
}

extension RequestError {
    package static let noSuchQuestion = RequestError(
        status: 404, code: "no_such_question", reason: "There is no such question.")
    package static let noSuchSession = RequestError(
        status: 404, code: "no_such_session", reason: "There is no such question session.")
    package static let presenterOnly = RequestError(
        status: 403, code: "presenter_only",
        reason: "Only the session's presenter may do this: the presenter key is missing or wrong.")
    package static let sessionClosed = RequestError(
        status: 409, code: "session_closed", reason: "The session is closed.")
    package static let deviceErased = RequestError(
        status: 409, code: "device_erased", reason: "The device's data was erased. Please connect again.")

    /// Returns the refusal for the code of an SQL function.
    static func refused(_ code: String) throws -> RequestError {
        switch code {
        case "no_such_question": .noSuchQuestion
        case "no_such_session": .noSuchSession
        case "presenter_only": .presenterOnly
        case "session_closed": .sessionClosed
        case "device_erased": .deviceErased
        default: throw PostgresError(kind: .decoding, message: "unknown code \(code)")
        }
    }
}

extension PostgresRow {
    /// Throws the refusal for the row's `code`, unless it is `done`.
    fileprivate func throwRefusal() throws {
        let code = try string("code")
        guard code != "done" else { return }
        throw try RequestError.refused(code)
    }
}
