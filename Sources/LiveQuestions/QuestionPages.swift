import Domain
import FoundationEssentials
import Messaging
import Pages
import Server
import Wire

/// What the routes of sessions answer to browsers. The two pages that are forms and a table work without JavaScript.
package struct QuestionPages: Sendable {
    /// Where people reach this server; `nil`: where they did.
    let publicURL: String?
    private let pages = LivePages()

    package init(publicURL: String?) {
        self.publicURL = publicURL
    }

    /// Makes a session.
    func start(_ request: Request) async throws -> Response {
        try await pages.plain(
            title: "Questions",
            content: """
                <form method="post" action="/questions/sessions">
                <input type="hidden" name="deviceId" value="\(UUID().text)">
                <label>Title <input name="title" required maxlength="200" autocomplete="off"></label>
                <label><input type="checkbox" name="moderated"> Others see a question once you approve it</label>
                <button class="primary">Open a session</button>
                </form>
                """, to: request.head)
    }

    /// The presenter's page of ``QuestionSession/open``, or one of its pages.
    func table(_ list: QuestionPage, _ request: Request) async throws -> Response {
        let rows = list.questions.map { question in
            let answer =
                question.answered
                ? ""
                : #"<form method="post" action="/questions/\#(question.id)/answer"><button class="plain">Answer</button></form>"#
            return
                "<tr><td>\(QuestionDocument.escape(question.content))</td><td>\(question.answered ? "yes" : "no")</td>"
                + "<td>\(answer)</td></tr>"
        }
        return try await pages.plain(
            title: "Questions",
            content: "<table><thead><tr><th>Question</th><th>Answered</th><th>Answer</th></tr></thead><tbody>\n"
                + rows.joined(separator: "\n") + "\n</tbody></table>" + more(list), to: request.head)
    }

    /// The way to what follows.
    private func more(_ list: QuestionPage) -> String {
        guard list.more, let last = list.questions.last else { return "" }
        return #"\#n<p><a href="/questions?after=\#(last.id)">More</a></p>"#
    }

    func audience(_ session: QuestionSession, _ request: Request) async throws -> Response {
        try await pages.audience(LivePages.Session(session), to: request.head)
    }

    func presenter(_ session: QuestionSession, _ request: Request) async throws -> Response {
        try await pages.presenter(LivePages.Session(session), origin: origin(request), to: request.head)
    }

    /// `http://localhost:8080`.
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
