import CEmbedded
import Pages
package import Server
package import Wire

/// The page of conversations: one answer, which is compressed once.
///
/// Created at the first request, so that a daemon without browsers doesn't load OpenSSL and zlib for the page.
package actor ConversationsPage {
    private var ready: PageAsset?

    package init() {}

    /// Returns the answer to a GET or HEAD.
    ///
    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    package func response(to head: HTTPRequestHead) throws -> Response {
        let asset = try ready ?? Self.make()
        ready = asset
        return asset.response(to: head)
    }

    private static func make() throws -> PageAsset {
        let page = try InlinedPage(
            html: EmbeddedFile.conversations_html.content,
            style: String(
                decoding: EmbeddedFile.base_css.content + EmbeddedFile.conversations_css.content, as: UTF8.self),
            script: ScriptBundle.join(modules.map(\.content)), forms: "'none'", hasWorker: true)
        return try PageAsset(
            Array(page.html.utf8), contentType: "text/html; charset=utf-8",
            headers: [
                HTTPField("Content-Security-Policy", page.contentSecurityPolicy),
                HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
            ])
    }

    /// The modules of this page, some of which the day's page also uses. Each module follows those that it imports.
    private static var modules: [EmbeddedFile] {
        [
            .words_js, .retry_js, .dom_js, .device_js, .store_js, .api_js, .identity_js, .keeper_js, .talks_js,
            .moments_js, .outbox_js, .feed_js, .inbox_js, .thread_js, .make_js, .ticket_form_js,
            .conversations_js,
        ]
    }
}
