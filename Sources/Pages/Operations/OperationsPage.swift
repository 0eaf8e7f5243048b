package import Server
package import Wire

/// The page for operators: one answer, compressed once, and an icon.
///
/// Made ready at the first request: a daemon that nobody looks at need not have OpenSSL and zlib in memory for it.
package actor OperationsPage {
    private var ready: (page: PageAsset, icon: PageAsset)?

    package init() {}

    /// The answer to a GET or HEAD.
    ///
    /// - Throws: ``CryptoError`` when there is no SHA-256.
    package func response(to head: HTTPRequestHead) throws -> Response {
        try assets().page.response(to: head)
    }

    /// The same of the icon: where operators look, there may be no other page.
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
            html: PackageResources.operations_html,
            style: String(decoding: PackageResources.base_css + PackageResources.operations_css, as: UTF8.self),
            script: ScriptBundle.join([
                PackageResources.dom_js, PackageResources.plots_js, PackageResources.operations_js,
            ]), forms: "'none'")
        let headers = [
            HTTPField("Content-Security-Policy", page.contentSecurityPolicy),
            HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        return (
            try PageAsset(Array(page.html.utf8), contentType: "text/html; charset=utf-8", headers: headers),
            try PageAsset(PackageResources.icon_svg, contentType: "image/svg+xml", headers: headers)
        )
    }
}
