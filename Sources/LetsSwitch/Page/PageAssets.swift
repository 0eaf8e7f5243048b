import Basics
import Delivery
import Server
import Wire

/// The files of the page, embedded in the program; made ready once.
struct PageAssets: Sendable {
    let document: PageAsset
    /// By their names below `/page/`.
    let files: [String: PageAsset]

    private static let script = "text/javascript; charset=utf-8"

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(_ configuration: Configuration) throws {
        let document = try PageDocument(
            html: PackageResources.index_html, styleSheet: PackageResources.page_css,
            lead: configuration.reminderLead, roomDuration: configuration.roomDuration,
            offersPush: configuration.providers.webPush.contact != nil)
        let headers = [
            HTTPField("Content-Security-Policy", document.contentSecurityPolicy),
            HTTPField("Referrer-Policy", "no-referrer"), HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        ]
        self.document = try PageAsset(document.html, contentType: "text/html; charset=utf-8", headers: headers)
        var files = [
            "icon.png": try PageAsset(PackageResources.icon_png, contentType: "image/png", headers: headers),
            "icon.svg": try PageAsset(PackageResources.icon_svg, contentType: "image/svg+xml", headers: headers),
            "manifest.webmanifest": try PageAsset(
                PackageResources.manifest_webmanifest, contentType: "application/manifest+json", headers: headers),
        ]
        for (name, bytes) in Self.modules {
            files["\(name).js"] = try PageAsset(bytes, contentType: Self.script, headers: headers)
        }
        let worker = try PageWorker(
            script: PackageResources.worker_js, notice: PackageResources.notice_js, quote: PackageResources.quote_js,
            document: self.document, files: files)
        files["worker.js"] = try PageAsset(
            worker.script, contentType: Self.script,
            // A service worker serves what is below its own path, unless it is allowed more.
            headers: headers + [HTTPField("Service-Worker-Allowed", "/")])
        self.files = files
    }

    private static var modules: [(name: String, bytes: [UInt8])] {
        [
            ("alerts", PackageResources.alerts_js), ("api", PackageResources.api_js),
            ("app", PackageResources.app_js), ("clock", PackageResources.clock_js),
            ("countdown", PackageResources.countdown_js), ("day", PackageResources.day_js),
            ("device", PackageResources.device_js), ("dialogs", PackageResources.dialogs_js),
            ("dom", PackageResources.dom_js), ("events", PackageResources.events_js),
            ("link", PackageResources.link_js), ("notice", PackageResources.notice_js),
            ("quote", PackageResources.quote_js), ("retry", PackageResources.retry_js),
            ("room", PackageResources.room_js), ("share", PackageResources.share_js),
            ("slots", PackageResources.slots_js),
            ("store", PackageResources.store_js), ("stream", PackageResources.stream_js),
            ("time", PackageResources.time_js), ("words", PackageResources.words_js),
        ]
    }
}
