import Domain
package import FoundationEssentials
import Postgres

/// The statements that read sessions. Each result names the session's version to which it refers.
extension QuestionStore {
    /// Returns questions in the order of asking. Returns `nil` if there is no such session.
    ///
    /// - Parameters:
    ///   - last: The page begins after this question, if it belongs to the session.
    ///   - all: Whether to return questions in every state. Otherwise only approved ones.
    ///   - limit: The maximum number of questions.
    package func page(
        of session: UUID, after last: UUID? = nil, all: Bool, limit: Int = QuestionPage.maximumCount
    ) async throws -> QuestionPage? {
        let rows = try await database.query(
            Statement.list,
            [
                .text(session.text), last.map { .text($0.text) } ?? .null, .boolean(all),
                .integer(limit + 1),
            ])
        guard let first = rows.first else { return nil }
        var questions: [Question] = []
        var bytes = 0
        for row in rows where try !row.isNull("id") {
            let question = try Question(row)
            bytes += question.json(forPresenter: true).count
            // A page has at least one question, even if the question exceeds the limit of bytes.
            let hasRoom = questions.count < limit && (questions.isEmpty || bytes <= QuestionPage.maximumBytes)
            guard hasRoom else { return try page(first, questions, more: true) }
            questions.append(question)
        }
        return try page(first, questions, more: false)
    }

    private func page(_ row: PostgresRow, _ questions: [Question], more: Bool) throws -> QuestionPage {
        QuestionPage(
            session: try QuestionSession(row), questions: questions, more: more,
            key: try row.optionalString("key_digest").map(PresenterKeyDigest.init(text:)))
    }

    /// Returns the ids of questions that have changed after a version. Returns `nil` if there is no such session.
    package func changed(in session: UUID, after version: Int) async throws -> ChangedQuestions? {
        let rows = try await database.query(
            Statement.changed, [.text(session.text), .integer(version), .integer(ChangedQuestions.maximumCount)])
        guard let first = rows.first else { return nil }
        let marks = try rows.filter { try !$0.isNull("id") }.map { row in
            ChangedQuestions.Mark(
                question: try row.uuid("id"), isVoted: try row.boolean("is_voted"),
                wasAnswered: try row.boolean("was_answered"))
        }
        let version = try first.integer("session_version")
        return ChangedQuestions(
            session: try QuestionSession(first), marks: marks, announced: try first.integer("announced"),
            // The session's version if all changes were read. Otherwise the version of the last change.
            through: marks.count < ChangedQuestions.maximumCount ? version : try rows[rows.count - 1].integer("version")
        )
    }

    /// Returns the current state of these questions, in this order. Returns at least one, and as many as fit into a
    /// page.
    ///
    /// - Parameter marks: The changes of the questions.
    /// - Returns: The changes, and the number of `marks` that were handled, including deleted questions.
    package func changes(_ marks: [ChangedQuestions.Mark]) async throws -> (QuestionChanges.Part, count: Int) {
        guard !marks.isEmpty else { return (QuestionChanges.Part(), 0) }
        let rows = try await database.query(Statement.byID, [.uuidArray(marks.map(\.question))])
        var answered = Set(marks.lazy.filter(\.wasAnswered).map(\.question))
        var part = QuestionChanges.Part()
        var bytes = 0
        for row in rows {
            let id = try row.uuid("id")
            let question = try row.isNull("content") ? nil : try Question(row)
            bytes += question?.json(forPresenter: true).count ?? 0
            guard part.changes.isEmpty || bytes <= QuestionPage.maximumBytes else {
                return (part, marks.firstIndex { $0.question == id } ?? marks.count)
            }
            if let question {
                part.changes.append(try row.boolean("is_new") ? .asked(question) : .changed(question))
            } else {
                part.changes.append(.removed(id))
            }
            if answered.remove(id) != nil, try row.boolean("answered") {
                part.answers.append(QuestionAnswer(question: id, askedFrom: try row.uuid("asked_from")))
            }
        }
        return (part, marks.count)
    }

    /// Returns the announcements after a version, in order. Returns at least one, and as many as fit into a page.
    ///
    /// - Returns: The announcements, and the version of the last one.
    package func announcements(
        in session: UUID, after version: Int
    ) async throws -> (announcements: [Announcement], through: Int) {
        let rows = try await database.query(
            Statement.announcements,
            [.text(session.text), .integer(version), .integer(Self.announcementLimit)])
        var (announcements, through, bytes) = ([Announcement](), version, 0)
        for row in rows {
            let content = try row.string("content")
            bytes += content.utf8.count
            guard announcements.isEmpty || bytes <= QuestionPage.maximumBytes else { break }
            let ids = Set(try row.string("ids").split(separator: " ").compactMap { UUID(text: String($0)) })
            let recipients: Recipients =
                switch try row.string("recipients") {
                case "ids": .ids(ids)
                case "allBut": .allBut(ids)
                default: .all
                }
            announcements.append(Announcement(content: content, recipients: recipients))
            through = try row.integer("version")
        }
        return (announcements, through)
    }
}

extension QuestionSession {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            id: try row.uuid("session_id"), title: try row.string("title"),
            state: try State(stored: try row.string("session_state")), isModerated: try row.boolean("is_moderated"),
            version: try row.integer("session_version"))
    }
}

extension QuestionSession.State {
    fileprivate init(stored text: String) throws {
        guard let state = Self(rawValue: text) else {
            throw PostgresError(kind: .decoding, message: "column session_state is not a valid state")
        }
        self = state
    }
}

extension Question {
    init(_ row: PostgresRow) throws {
        guard let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(kind: .decoding, message: "column state is not a valid state")
        }
        self.init(
            id: try row.uuid("id"), session: try row.uuid("session_id"), content: try row.string("content"),
            answered: try row.boolean("answered"), answer: try row.optionalString("answer"),
            votes: try row.integer("votes"), state: state, askedAt: try row.instant("asked_at"),
            askedFrom: try row.uuid("asked_from"), version: try row.integer("version"))
    }
}
