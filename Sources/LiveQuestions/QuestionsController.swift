package import Access
import Domain
import FoundationEssentials
import Messaging
package import Observability
import Server
import Wire

/// Sessions of questions over HTTP: `/questions` and what is below it. With `--open-questions` there is one that is everybody's.
package struct QuestionsController: RouteCollection, Sendable {
    let questions: Questions
    let pages: QuestionPages
    /// Whether ``QuestionSession/open`` is there.
    let hasOpenSession: Bool
    let identities: IdentityVerifier
    let log: Log

    package init(
        questions: Questions, pages: QuestionPages, hasOpenSession: Bool, identities: IdentityVerifier, log: Log
    ) {
        self.questions = questions
        self.pages = pages
        self.hasOpenSession = hasOpenSession
        self.identities = identities
        self.log = log
    }

    func boot(routes: RoutesBuilder) {
        routes.get("questions", as: QuestionDescriptions.table, use: table)
        routes.post("questions", "sessions", as: QuestionDescriptions.make, registers: true, use: makeSession)
        routes.get("questions", ":session", as: QuestionDescriptions.audiencePage, use: audiencePage)
        routes.get("questions", ":session", "presenter", as: QuestionDescriptions.presenterPage, use: presenterPage)
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
        if hasOpenSession {
            routes.post(":question", "answer", as: QuestionDescriptions.moderate("answer")) {
                try await moderate($0, .answer)
            }
        }
    }

    // MARK: Sessions

    @Sendable private func makeSession(_ request: Request) async throws -> Response {
        let body = try QuestionBody(request)
        let asked: SessionRequest
        switch body {
        case .json(let bytes): asked = try SessionRequest.decode(bytes) { try device($0, of: request) }
        case .form(let form):
            guard let title = form["title"] else { throw RequestError.invalid("title", "is missing") }
            asked = try SessionRequest(
                device: try device(form["deviceId"], of: request), title: title, isModerated: form["moderated"] != nil)
        }
        let key = try PresenterKey.random()
        let session = try await questions.store.makeSession(asked, key: key)
        log.info(
            "session of questions made",
            ["session": .string(session.id.text), "device": .device(asked.device)])
        guard case .json = body else {
            return Response(seeOther: "/questions/\(session.id.text)/presenter?key=\(key.text)")
        }
        return .json(session.json(key: key), status: .created)
    }

    /// Who makes a session: as its body says, or a ticket. A ticket has to be for sessions that are yet to be made.
    private func device(_ named: String?, of request: Request) throws -> DeviceID {
        var identity = try identities.identity(of: request.head)
        if named != nil || identity.device == nil {
            identity = try identities.identity(identity, naming: DeviceID(named))
        }
        try identity.check(.questions(UUID()))
        return try identity.device ?? DeviceID(nil)
    }

    @Sendable private func set(_ request: Request, to state: QuestionSession.State) async throws -> Response {
        let id = try session(of: request)
        let body = try QuestionBody(request)
        try body.checkObject()
        let session = try await questions.set(
            id, to: state, keys: try PresenterCredentials.ofWrite(request).digests())
        return response(to: body, session.json(), page: id)
    }

    @Sendable private func announce(_ request: Request) async throws -> Response {
        let id = try session(of: request)
        let body = try QuestionBody(request)
        let announcement: AnnouncementRequest =
            switch body {
            case .json(let bytes): try AnnouncementRequest.decode(bytes)
            case .form(let form): try AnnouncementRequest(content: form["content"] ?? "", recipients: .all)
            }
        let keys = try PresenterCredentials.ofWrite(request).digests()
        // It is kept for an hour or two, whoever has made the session.
        if let seconds = request.wait(for: .message) { throw RequestError.tooManyMessages(retryAfter: seconds) }
        let sent = try await questions.announce(announcement, in: id, keys: keys)
        var json = JSONText()
        json.object { $0.member("sent", sent) }
        return response(to: body, json.bytes, page: id)
    }

    // MARK: Questions

    private func moderate(_ request: Request, _ action: QuestionAction) async throws -> Response {
        guard let id = request.parameters["question"].flatMap(UUID.init(text:)) else {
            throw RequestError.invalid("A question is named by its UUID.")
        }
        let body = try QuestionBody(request)
        let answer: AnswerRequest =
            switch body {
            case .json(let bytes): try AnswerRequest.decode(bytes)
            case .form(let form): try AnswerRequest(answer: form["answer"])
            }
        let question = try await questions.moderate(
            id, action, answer: answer.answer, keys: try PresenterCredentials.ofWrite(request).digests(),
            opensAll: hasOpenSession)
        return response(to: body, question.json(forPresenter: true), page: question.session)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        let (id, last) = (try session(of: request), try last(of: request))
        let keys = try PresenterCredentials(request, acceptsCookies: false).digests()
        let (page, isPresenter) = try await page(of: id, after: last, keys: keys)
        var json = JSONText()
        json.object { page.writeMembers(to: &$0, forPresenter: isPresenter) }
        return .json(json.bytes)
    }

    /// The last question that one has.
    private func last(of request: Request) throws(RequestError) -> UUID? {
        guard let text = request.query("after") else { return nil }
        guard let last = UUID(text: text) else { throw .invalid("after", "must be a question's UUID") }
        return last
    }

    private func entrance(of id: UUID) async throws -> SessionEntrance {
        guard let entrance = try await questions.feeds.look(at: id) else { throw RequestError.noSuchSession }
        return entrance
    }

    /// As much as whoever shows these keys may see.
    private func page(
        of id: UUID, after last: UUID?, keys: [PresenterKeyDigest]
    ) async throws -> (QuestionPage, isPresenter: Bool) {
        let entrance = try await entrance(of: id)
        let isPresenter = entrance.isPresenter(keys)
        guard let page = try await questions.feeds.page(of: id, after: last, all: isPresenter, follows: false) else {
            throw RequestError.noSuchSession
        }
        return (page, isPresenter)
    }

    // MARK: Pages

    @Sendable private func table(_ request: Request) async throws -> Response {
        guard hasOpenSession else { return try await pages.start(request) }
        let last = try last(of: request)
        try await questions.store.makeOpenSession()
        let (page, _) = try await page(of: QuestionSession.open.id, after: last, keys: [])
        return try await pages.table(page, request)
    }

    @Sendable private func audiencePage(_ request: Request) async throws -> Response {
        let entrance = try await entrance(of: session(of: request))
        return try await pages.audience(entrance.session, request)
    }

    /// With `key` the browser is to keep it, and to come again without.
    @Sendable private func presenterPage(_ request: Request) async throws -> Response {
        let id = try session(of: request)
        let shown = request.query("key").map(PresenterKey.init(text:))
        let keys =
            if let shown { [try shown.digest()] } else {
                try PresenterCredentials(request, acceptsCookies: true).digests()
            }
        let entrance = try await entrance(of: id)
        guard entrance.isPresenter(keys) else { throw RequestError.presenterOnly }
        guard let shown else { return try await pages.presenter(entrance.session, request) }
        var response = Response(seeOther: "/questions/\(id.text)/presenter")
        response.headers += [
            PresenterCredentials.cookie(shown, of: id, isSecure: request.isSecure),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
        return response
    }

    // MARK: Requests and answers

    /// The session that the path names.
    private func session(of request: Request) throws(RequestError) -> UUID {
        guard let id = request.parameters["session"].flatMap(UUID.init(text:)) else {
            throw .invalid("A session is named by its UUID.")
        }
        guard hasOpenSession || id != QuestionSession.open.id else { throw .noSuchSession }
        return id
    }

    /// The object to a program, and the page to a form.
    private func response(to body: QuestionBody, _ json: [UInt8], page session: UUID) -> Response {
        if case .json = body { return .json(json) }
        let isOpen = session == QuestionSession.open.id
        return Response(seeOther: isOpen ? "/questions" : "/questions/\(session.text)/presenter")
    }
}

/// What a request brings: JSON, which is answered with JSON, or a form, or nothing.
enum QuestionBody: Sendable {
    case json([UInt8])
    case form(FormText)

    init(_ request: Request) throws(RequestError) {
        let isJSON = request.body.first { !" \t\r\n".utf8.contains($0) }.map { $0 == UInt8(ascii: "{") }
        let saysJSON = request.head.headers.value("Content-Type")?.lowercased().hasPrefix("application/json") == true
        if isJSON ?? false || saysJSON {
            self = .json(request.body)
        } else if let form = FormText(request.body) {
            self = .form(form)
        } else {
            throw .invalid("The body is neither JSON nor a form's.")
        }
    }

    /// Of a request from which nothing is taken: JSON is an object all the same, or nothing.
    func checkObject() throws(RequestError) {
        guard case .json(let bytes) = self, !bytes.isEmpty else { return }
        _ = try RequestFields.decode(SomeObject.self, from: bytes)
    }

    private struct SomeObject: Decodable {
        init(from decoder: any Decoder) throws { _ = try RequestFields(decoder) }
    }
}

extension Response {
    /// `303`: what was asked for is done, and here one sees it.
    fileprivate init(seeOther location: String) {
        self.init(.seeOther, headers: [HTTPField("Location", location)])
    }
}
