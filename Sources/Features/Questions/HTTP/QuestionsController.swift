import Domain
import FoundationEssentials
package import Observability
import Server
import Wire

/// Serves question sessions over HTTP: `/questions` and its subpaths. With `--open-questions`, there is also a session
/// for everyone.
package struct QuestionsController: RouteCollection {
    private let sessions: SessionAccess
    private let moderation: SessionModeration
    private let pages: QuestionPages
    private let log: Log

    package init(_ sessions: SessionAccess, pages: QuestionPages, log: Log) {
        self.sessions = sessions
        moderation = SessionModeration(questions: sessions.questions)
        self.pages = pages
        self.log = log
    }

    func boot(routes: RoutesBuilder) {
        routes.get("questions", as: QuestionDescriptions.table, use: pages.table)
        routes.post("questions", "sessions", as: QuestionDescriptions.make, registers: true, use: makeSession)
        routes.get("questions", ":session", as: QuestionDescriptions.audiencePage, use: pages.audience)
        routes.get("questions", ":session", "presenter", as: QuestionDescriptions.presenterPage, use: pages.presenter)
        routes.get("questions", ":session", "list", as: QuestionDescriptions.list, use: list)
        for (word, state) in [("close", QuestionSession.State.closed), ("open", .open)] {
            routes.post("questions", ":session", word, as: QuestionDescriptions.set(word)) {
                try await set($0, to: state)
            }
        }
        routes.post("questions", ":session", "announce", as: QuestionDescriptions.announce, use: announce)
        for action in QuestionAction.allCases {
            routes.post("questions", ":question", action.rawValue, as: QuestionDescriptions.moderate(action.rawValue)) {
                try await moderate($0, action)
            }
        }
        if sessions.hasOpenSession {
            routes.post(":question", "answer", as: QuestionDescriptions.moderate("answer")) {
                try await moderate($0, .answer)
            }
        }
    }

    // MARK: Sessions

    @Sendable private func makeSession(_ request: Request) async throws -> Response {
        let body = try QuestionBody(request)
        let asked = try body.session { try sessions.device($0, of: request) }
        let (session, key) = try await moderation.makeSession(asked)
        log.info(
            "question session created",
            ["session": .string(session.id.text), "device": .device(asked.device)])
        guard case .json = body else {
            return Response(seeOther: "/questions/\(session.id.text)/presenter?key=\(key.text)")
        }
        return .json(session.json(key: key), status: .created)
    }

    @Sendable private func set(_ request: Request, to state: QuestionSession.State) async throws -> Response {
        let id = try sessions.session(of: request)
        let body = try QuestionBody(request)
        try body.checkObject()
        let session = try await moderation.set(
            id, to: state, keys: PresenterCredentials.ofWrite(request).digests())
        return response(to: body, session.json(), page: id)
    }

    @Sendable private func announce(_ request: Request) async throws -> Response {
        let id = try sessions.session(of: request)
        let body = try QuestionBody(request)
        let announcement = try body.announcement()
        let keys = try PresenterCredentials.ofWrite(request).digests()
        // An announcement is stored for an hour or two, so it counts against the address's daily limit.
        if let seconds = request.wait(for: .message) { throw RequestError.tooManyMessages(retryAfter: seconds) }
        let sent = try await moderation.announce(announcement, in: id, keys: keys)
        var json = JSONText()
        json.object { $0.member("sent", sent) }
        return response(to: body, json.bytes, page: id)
    }

    // MARK: Questions

    private func moderate(_ request: Request, _ action: QuestionAction) async throws -> Response {
        guard let id = request.parameters["question"].flatMap(UUID.init(text:)) else {
            throw RequestError.invalid("The question in the path must be a UUID.")
        }
        let body = try QuestionBody(request)
        let answer = try body.answer()
        let question = try await moderation.moderate(
            id, action, answer: answer.answer, keys: PresenterCredentials.ofWrite(request).digests(),
            opensAll: sessions.hasOpenSession)
        return response(to: body, question.json(forPresenter: true), page: question.session)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        let (id, last) = (try sessions.session(of: request), try sessions.last(of: request))
        let keys = try PresenterCredentials(request, acceptsCookies: false).digests()
        let (page, isPresenter) = try await sessions.page(of: id, after: last, keys: keys)
        var json = JSONText()
        json.object { page.writeMembers(to: &$0, forPresenter: isPresenter) }
        return .json(json.bytes)
    }

    /// Returns JSON for a JSON body, or a redirection to the session's page for a form.
    private func response(to body: QuestionBody, _ json: [UInt8], page session: UUID) -> Response {
        if case .json = body { return .json(json) }
        let isOpen = session == QuestionSession.open.id
        return Response(seeOther: isOpen ? "/questions" : "/questions/\(session.text)/presenter")
    }
}
