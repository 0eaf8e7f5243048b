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
            html: PackageResources.conversations_html,
            style: String(decoding: PackageResources.base_css + PackageResources.conversations_css, as: UTF8.self),
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
            PackageResources.words_js, PackageResources.retry_js, PackageResources.dom_js, PackageResources.device_js,
            PackageResources.store_js, PackageResources.api_js,
            PackageResources.identity_js, PackageResources.keeper_js, PackageResources.talks_js,
            PackageResources.moments_js, PackageResources.outbox_js,
            PackageResources.feed_js, PackageResources.inbox_js, PackageResources.thread_js, PackageResources.make_js,
            PackageResources.conversations_js,
        ]
    }
}
