import CEmbedded
import Pages
package import Server
package import Wire

/// The page for operators, sent in one answer and compressed once, and its icon.
///
/// Both are created at the first request. A daemon whose page isn't requested doesn't load OpenSSL and zlib for them.
package actor OperationsPage {
    private var ready: (page: PageAsset, icon: PageAsset)?

    package init() {}

    /// Returns the answer to a GET or HEAD.
    ///
    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    package func response(to head: HTTPRequestHead) throws -> Response {
        try assets().page.response(to: head)
    }

    /// Returns the icon. It is part of the page, because the operators' address may serve no other page.
    package func icon(to head: HTTPRequestHead) throws -> Response {
        try assets().icon.response(to: head)
    }

    private func assets() throws -> (page: PageAsset, icon: PageAsset) {
        let assets = try ready ?? Self.make()
        ready = assets
        return assets
    }

    private static func make() throws -> (page: PageAsset, icon: PageAsset) {
        let page = try InlinedPage(
            html: EmbeddedFile.operations_html.content,
            style: String(decoding: EmbeddedFile.base_css.content + EmbeddedFile.operations_css.content, as: UTF8.self),
            script: ScriptBundle.join([
                EmbeddedFile.dom_js.content, EmbeddedFile.plots_js.content, EmbeddedFile.operations_js.content,
            ]), forms: "'none'")
        let headers = [
            HTTPField("Content-Security-Policy", page.contentSecurityPolicy),
            HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        return (
            try PageAsset(Array(page.html.utf8), contentType: "text/html; charset=utf-8", headers: headers),
            try PageAsset(EmbeddedFile.icon_svg.content, contentType: "image/svg+xml", headers: headers)
        )
    }
}
