import Domain
import FoundationEssentials
import Messaging
import Server
import Wire

/// The pages of sessions, made by the server: they work without JavaScript.
struct QuestionPages: Sendable {
    /// Nothing is loaded, and forms go to this server alone.
    private static let policy =
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    /// Makes a session.
    func start() -> Response {
        page(
            "Questions",
            """
            <form method="post" action="/questions/sessions">
            <input type="hidden" name="deviceId" value="\(UUID().uuidString)">
            <p><label>Title <input name="title" required maxlength="200"></label></p>
            <p><label><input type="checkbox" name="moderated"> Others see a question once you approve it</label></p>
            <p><button>Open a session</button></p>
            </form>
            """)
    }

    /// The presenter's page of ``QuestionSession/open``.
    func table(_ list: QuestionPage) -> Response {
        let rows = list.questions.map { question in
            let answer =
                question.answered
                ? ""
                : #"<form method="post" action="/questions/\#(question.id)/answer"><button>Answer</button></form>"#
            return "<tr><td>\(Self.escape(question.content))</td><td>\(question.answered ? "yes" : "no")</td>"
                + "<td>\(answer)</td></tr>"
        }
        return page(
            "Questions",
            "<table><thead><tr><th>Question</th><th>Answered</th><th>Answer</th></tr></thead><tbody>\n"
                + rows.joined(separator: "\n") + "\n</tbody></table>")
    }

    /// What everybody may see.
    func audience(_ list: QuestionPage) -> Response {
        let items = list.questions.map { question in
            "<li>\(Self.escape(question.content)) (\(question.votes))"
                + (question.answered ? " <strong>\(Self.escape(question.answer ?? "answered"))</strong>" : "") + "</li>"
        }
        return page(list.session.title, "<ul>\n\(items.joined(separator: "\n"))\n</ul>")
    }

    /// Everything, with a button for each thing that can be done.
    func presenter(_ list: QuestionPage) -> Response {
        let items = list.questions.map { question in
            let actions = QuestionAction.allCases.map { action in
                let field = action == .answer ? #"<input name="answer" aria-label="Answer">"# : ""
                return
                    #"<form method="post" action="/questions/\#(question.id)/\#(action)">\#(field)<button>\#(action)</button></form>"#
            }
            return "<li>\(Self.escape(question.content)) (\(question.state), \(question.votes), "
                + "\(question.answered ? "answered" : "not answered"))\(actions.joined())</li>"
        }
        let session = "/questions/\(list.session.id)"
        let next = list.session.state == .open ? "close" : "open"
        return page(
            list.session.title,
            """
            <form method="post" action="\(session)/\(next)"><button>\(next)</button></form>
            <form method="post" action="\(session)/announce"><input name="content" aria-label="Announcement"><button>announce</button></form>
            <ul>
            \(items.joined(separator: "\n"))
            </ul>
            """)
    }

    private func page(_ title: String, _ content: String) -> Response {
        let html = """
            <!doctype html>
            <html lang="en">
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(Self.escape(title))</title>
            <h1>\(Self.escape(title))</h1>
            \(content)
            </html>

            """
        return Response(
            headers: [
                HTTPField("Content-Type", "text/html; charset=utf-8"),
                HTTPField("Content-Security-Policy", Self.policy), HTTPField("Referrer-Policy", "same-origin"),
                .notStored,
            ], body: .bytes(Array(html.utf8)))
    }

    /// What people wrote, as text.
    private static func escape(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
