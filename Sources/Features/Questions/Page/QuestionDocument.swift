import CEmbedded
import Crypto
import Pages
import Server
import Wire

/// The HTML of the pages of question sessions. It contains the style sheet and the script, so that each browser of a
/// large audience sends only one request.
struct QuestionDocument: Sendable {
    private static let style = String(
        decoding: EmbeddedFile.base_css.content + EmbeddedFile.questions_css.content, as: UTF8.self)

    private let template: InlinedPage

    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    init() throws {
        template = try InlinedPage(
            html: EmbeddedFile.questions_html.content, style: Self.style,
            script: String(decoding: EmbeddedFile.questions_js.content, as: UTF8.self), forms: "'self'")
    }

    /// Returns a session's live page.
    ///
    /// - Parameters:
    ///   - list: The address of the questions as JSON.
    ///   - facts: The attributes for the script. Their values need no quoting.
    ///   - invitation: HTML for the presenter.
    func live(title: String, list: String, facts: [(name: String, value: String)], invitation: String) -> String {
        let title = HTMLText.escape(title)
        let attributes = facts.map { "data-\($0.name)=\"\(HTMLText.escape($0.value))\"" }.joined(separator: " ")
        // The title is inserted last, so that no later replacement changes its text.
        return template.html.replacing("<body data-facts>", with: "<body \(attributes)>", maxReplacements: 1)
            .replacing("<a href=\"list\">", with: "<a href=\"\(HTMLText.escape(list))\">", maxReplacements: 1)
            .replacing(
                #"<section id="join" aria-label="How to join"></section>"#,
                with: "<section id=\"join\" aria-label=\"How to join\">\(invitation)</section>", maxReplacements: 1
            )
            .replacing("<h1 tabindex=\"-1\"></h1>", with: "<h1 tabindex=\"-1\">\(title)</h1>", maxReplacements: 1)
            .replacing("<title></title>", with: "<title>\(title)</title>", maxReplacements: 1)
    }

    /// Returns a page that works without a script.
    ///
    /// - Parameter content: The page's content as HTML.
    func plain(title: String, content: String) -> String {
        let title = HTMLText.escape(title)
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
            <title>\(title)</title>
            <meta name="color-scheme" content="light dark">
            <link rel="icon" href="/page/icon.svg" type="image/svg+xml">
            <style>\(Self.style)</style>
            </head>
            <body>
            <div class="page">
            <h1>\(title)</h1>
            \(content)
            </div>
            </body>
            </html>

            """
    }

    /// Returns the page as an answer, compressed if the client accepts it.
    func response(_ html: String, to head: HTTPRequestHead) -> Response {
        var headers = [
            HTTPField("Content-Type", "text/html; charset=utf-8"),
            HTTPField("Vary", "Accept-Encoding"), HTTPField("Content-Security-Policy", template.contentSecurityPolicy),
            // With this policy, the browser sends the page's origin with a form to this server.
            HTTPField("Referrer-Policy", "same-origin"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        let bytes = Array(html.utf8)
        guard head.headers.prefersGzip, let compressed = Gzip.compress(bytes), compressed.count < bytes.count else {
            return Response(headers: headers, body: .bytes(bytes))
        }
        headers.append(HTTPField("Content-Encoding", "gzip"))
        return Response(headers: headers, body: .bytes(compressed))
    }
}
