import Domain
package import FoundationEssentials
import Postgres

/// What is read of sessions. Each answer has a session's version, and what it says is as of that version.
extension QuestionStore {
    /// Questions in the order of asking; `nil` if there is no such session.
    ///
    /// - Parameters:
    ///   - last: After this one, if it is one of the session's.
    ///   - all: In whatever state; else the approved.
    ///   - limit: How many at most.
    package func page(
        of session: UUID, after last: UUID? = nil, all: Bool, limit: Int = QuestionPage.maximumCount
    ) async throws -> QuestionPage? {
        let rows = try await database.query(
            Statement.list,
            [
                .text(session.uuidString), last.map { .text($0.uuidString) } ?? .null, .boolean(all),
                .integer(limit + 1),
            ])
        guard let first = rows.first else { return nil }
        var questions: [Question] = []
        var bytes = 0
        for row in rows where try !row.isNull("id") {
            let question = try Question(row)
            bytes += question.json(forPresenter: true).count
            // One at least, whatever its length.
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

    /// What has changed after a version, as much as fits; `nil` if there is no such session.
    package func changes(in session: UUID, after version: Int) async throws -> QuestionChanges? {
        let rows = try await database.query(
            Statement.changes,
            [.text(session.uuidString), .integer(version), .integer(QuestionPage.maximumCount)])
        guard let first = rows.first else { return nil }
        var changes: [QuestionChanges.Change] = []
        var answers: [QuestionAnswer] = []
        var (bytes, count) = (0, 0)
        var through = version
        for row in rows where try !row.isNull("id") {
            let id = try row.uuid("id")
            let question = try row.isNull("content") ? nil : try Question(row)
            bytes += question?.json(forPresenter: true).count ?? 0
            guard changes.isEmpty || bytes <= QuestionPage.maximumBytes else { break }
            count += 1
            if let question {
                changes.append(try row.boolean("is_new") ? .asked(question) : .changed(question))
            } else {
                changes.append(.removed(id))
            }
            through = try row.integer("version")
            if let answered = try row.optionalInteger("answered_in"), answered > version {
                answers.append(QuestionAnswer(question: id, askedFrom: try row.uuid("asked_from")))
            }
        }
        // All there is was read.
        if count == 0 || (count == rows.count && count < QuestionPage.maximumCount) {
            through = try first.integer("session_version")
        }
        let announced = try first.integer("announced")
        return QuestionChanges(
            session: try QuestionSession(first), changes: changes, answers: answers,
            announcements: announced > version
                ? try await announcements(in: session, after: version, upTo: through) : [],
            through: through)
    }

    private func announcements(in session: UUID, after version: Int, upTo last: Int) async throws -> [Announcement] {
        let rows = try await database.query(
            Statement.announcements, [.text(session.uuidString), .integer(version), .integer(last)])
        return try rows.map { row in
            let ids = try row.string("ids").split(separator: " ").compactMap { UUID(text: String($0)) }
            let recipients: Recipients =
                switch try row.string("recipients") {
                case "ids": .ids(ids)
                case "allBut": .allBut(ids)
                default: .all
                }
            return Announcement(content: try row.string("content"), recipients: recipients)
        }
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
            throw PostgresError(kind: .decoding, message: "column session_state is no state")
        }
        self = state
    }
}

extension Question {
    init(_ row: PostgresRow) throws {
        guard let state = State(rawValue: try row.string("state")) else {
            throw PostgresError(kind: .decoding, message: "column state is no state")
        }
        self.init(
            id: try row.uuid("id"), session: try row.uuid("session_id"), content: try row.string("content"),
            answered: try row.boolean("answered"), answer: try row.optionalString("answer"),
            votes: try row.integer("votes"), state: state, askedAt: try row.instant("asked_at"),
            askedFrom: try row.uuid("asked_from"), version: try row.integer("version"))
    }
}
