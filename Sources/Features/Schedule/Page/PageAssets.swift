import CEmbedded
import Pages
import Server
import Wire

/// The files of the page, embedded in the program and prepared once.
struct PageAssets: Sendable {
    let document: PageAsset
    /// The files by their names below `/page/`.
    let files: [String: PageAsset]

    private static let script = "text/javascript; charset=utf-8"

    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    init(_ facts: PageFacts) throws {
        let document = try PageDocument(
            html: EmbeddedFile.index_html.content,
            styleSheet: EmbeddedFile.base_css.content + EmbeddedFile.page_css.content,
            facts: facts)
        let headers = [
            HTTPField("Content-Security-Policy", document.contentSecurityPolicy),
            HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        self.document = try PageAsset(document.html, contentType: "text/html; charset=utf-8", headers: headers)
        var files = [
            "icon.png": try PageAsset(EmbeddedFile.icon_png.content, contentType: "image/png", headers: headers),
            "icon.svg": try PageAsset(EmbeddedFile.icon_svg.content, contentType: "image/svg+xml", headers: headers),
            "manifest.webmanifest": try PageAsset(
                EmbeddedFile.manifest_webmanifest.content, contentType: "application/manifest+json", headers: headers),
        ]
        for (name, file) in Self.modules {
            files["\(name).js"] = try PageAsset(file.content, contentType: Self.script, headers: headers)
        }
        let worker = try PageWorker(
            script: EmbeddedFile.worker_js.content, notice: EmbeddedFile.notice_js.content,
            quote: EmbeddedFile.quote_js.content,
            document: self.document, files: files)
        files["worker.js"] = try PageAsset(
            worker.script, contentType: Self.script,
            // By default, a service worker controls only pages below its own path.
            headers: headers + [HTTPField("Service-Worker-Allowed", "/")])
        self.files = files
    }

    private static var modules: [(name: String, file: EmbeddedFile)] {
        [
            ("again", .again_js), ("alerts", .alerts_js), ("api", .api_js), ("app", .app_js), ("clock", .clock_js),
            ("countdown", .countdown_js), ("day", .day_js), ("device", .device_js), ("dialogs", .dialogs_js),
            ("dom", .dom_js), ("events", .events_js), ("invitations", .invitations_js), ("link", .link_js),
            ("notice", .notice_js), ("partner", .partner_js), ("past", .past_js), ("promises", .promises_js),
            ("quote", .quote_js), ("retry", .retry_js), ("series", .series_js), ("room", .room_js),
            ("share", .share_js), ("slots", .slots_js), ("store", .store_js), ("stream", .stream_js),
            ("time", .time_js), ("words", .words_js), ("zone", .zone_js),
        ]
    }
}
