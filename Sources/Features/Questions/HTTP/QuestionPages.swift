import Domain
import FoundationEssentials
import Pages
import Server
import Wire

/// The pages of sessions for browsers. The form and the table work without JavaScript.
package struct QuestionPages: Sendable {
    private let sessions: SessionAccess
    /// The public address of this server. `nil` to use the address of the request.
    private let publicURL: String?
    private let pages = LivePages()

    package init(_ sessions: SessionAccess, publicURL: String?) {
        self.sessions = sessions
        self.publicURL = publicURL
    }

    // MARK: `/questions`

    /// Returns the table of the open session, or the form that creates a session.
    @Sendable func table(_ request: Request) async throws -> Response {
        guard sessions.hasOpenSession else { return try await start(request) }
        let last = try sessions.last(of: request)
        try await sessions.questions.store.makeOpenSession()
        let (page, _) = try await sessions.page(of: QuestionSession.open.id, after: last, keys: [])
        return try await table(page, request)
    }

    /// Returns the form that creates a session.
    private func start(_ request: Request) async throws -> Response {
        try await pages.plain(
            title: "Questions",
            content: """
                <form method="post" action="/questions/sessions">
                <input type="hidden" name="deviceId" value="\(UUID().text)">
                <label>Title <input name="title" required maxlength="200" autocomplete="off"></label>
                <label><input type="checkbox" name="moderated"> Others see a question once you approve it</label>
                <button class="primary">Create a session</button>
                </form>
                """, to: request.head)
    }

    /// Returns a page of the questions in ``QuestionSession/open``, with the presenter's buttons.
    private func table(_ list: QuestionPage, _ request: Request) async throws -> Response {
        let rows = list.questions.map { question in
            let answer =
                question.answered
                ? ""
                : #"<form method="post" action="/questions/\#(question.id)/answer"><button class="plain">Answer</button></form>"#
            return
                "<tr><td>\(HTMLText.escape(question.content))</td><td>\(question.answered ? "yes" : "no")</td>"
                + "<td>\(answer)</td></tr>"
        }
        return try await pages.plain(
            title: "Questions",
            content: "<table><thead><tr><th>Question</th><th>Answered</th><th>Answer</th></tr></thead><tbody>\n"
                + rows.joined(separator: "\n") + "\n</tbody></table>" + more(list), to: request.head)
    }

    /// Returns the link to the next page.
    private func more(_ list: QuestionPage) -> String {
        guard list.more, let last = list.questions.last else { return "" }
        return #"\#n<p><a href="/questions?after=\#(last.id)">More</a></p>"#
    }

    // MARK: Pages of a session

    @Sendable func audience(_ request: Request) async throws -> Response {
        let entrance = try await sessions.entrance(of: sessions.session(of: request))
        return try await pages.audience(LivePages.Session(entrance.session), to: request.head)
    }

    /// Returns the presenter's page. If the query has `key`, sets the cookie and redirects to the address without the
    /// key.
    @Sendable func presenter(_ request: Request) async throws -> Response {
        let id = try sessions.session(of: request)
        let shown = request.query("key").map(PresenterKey.init(text:))
        let keys =
            if let shown { [try shown.digest()] } else {
                try PresenterCredentials(request, acceptsCookies: true).digests()
            }
        let entrance = try await sessions.entrance(of: id)
        guard entrance.isPresenter(keys) else { throw RequestError.presenterOnly }
        guard let shown else {
            return try await pages.presenter(
                LivePages.Session(entrance.session), origin: origin(request), to: request.head)
        }
        var response = Response(seeOther: "/questions/\(id.text)/presenter")
        response.headers += [
            PresenterCredentials.cookie(shown, of: id, isSecure: request.isSecure),
            HTTPField("Referrer-Policy", "no-referrer"),
        ]
        return response
    }

    /// Returns the server's origin, such as `http://localhost:8080`.
    private func origin(_ request: Request) -> String {
        if let publicURL { return publicURL }
        return "\(request.isSecure ? "https" : "http")://\(request.head.headers.value("Host") ?? "localhost")"
    }
}

extension LivePages.Session {
    fileprivate init(_ session: QuestionSession) {
        self.init(
            id: session.id, title: session.title, isOpen: session.state == .open, isModerated: session.isModerated)
    }
}
