import CEmbedded
package import Server
package import Wire

/// The page about conversations: one answer, compressed once.
///
/// Made ready at the first request: a daemon that nobody visits by browser need not have OpenSSL and zlib in memory for it.
package actor ConversationsPage {
    private var ready: PageAsset?

    package init() {}

    /// The answer to a GET or HEAD.
    ///
    /// - Throws: ``CryptoError`` when there is no SHA-256.
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
            script: ScriptBundle.join(modules), forms: "'none'", hasWorker: true)
        return try PageAsset(
            Array(page.html.utf8), contentType: "text/html; charset=utf-8",
            headers: [
                HTTPField("Content-Security-Policy", page.contentSecurityPolicy),
                HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
            ])
    }

    /// The day's page's, and its own: each after those that it imports.
    private static var modules: [[UInt8]] {
        [
            EmbeddedFile.words_js.content, EmbeddedFile.retry_js.content, EmbeddedFile.dom_js.content,
            EmbeddedFile.device_js.content,
            EmbeddedFile.store_js.content, EmbeddedFile.api_js.content,
            EmbeddedFile.identity_js.content, EmbeddedFile.keeper_js.content, EmbeddedFile.talks_js.content,
            EmbeddedFile.moments_js.content, EmbeddedFile.outbox_js.content,
            EmbeddedFile.feed_js.content, EmbeddedFile.inbox_js.content, EmbeddedFile.thread_js.content,
            EmbeddedFile.make_js.content,
            EmbeddedFile.conversations_js.content,
        ]
    }
}
