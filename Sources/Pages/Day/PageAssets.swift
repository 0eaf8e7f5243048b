import Crypto
import Server
import Wire

/// The files of the page, embedded in the program; made ready once.
struct PageAssets: Sendable {
    let document: PageAsset
    /// By their names below `/page/`.
    let files: [String: PageAsset]

    private static let script = "text/javascript; charset=utf-8"

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(_ facts: PageFacts) throws {
        let document = try PageDocument(
            html: PackageResources.index_html, styleSheet: PackageResources.base_css + PackageResources.page_css,
            facts: facts)
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
            ("again", PackageResources.again_js), ("alerts", PackageResources.alerts_js),
            ("api", PackageResources.api_js),
            ("app", PackageResources.app_js), ("clock", PackageResources.clock_js),
            ("countdown", PackageResources.countdown_js), ("day", PackageResources.day_js),
            ("device", PackageResources.device_js), ("dialogs", PackageResources.dialogs_js),
            ("dom", PackageResources.dom_js), ("events", PackageResources.events_js),
            ("invitations", PackageResources.invitations_js), ("link", PackageResources.link_js),
            ("notice", PackageResources.notice_js),
            ("partner", PackageResources.partner_js), ("past", PackageResources.past_js),
            ("promises", PackageResources.promises_js), ("quote", PackageResources.quote_js),
            ("retry", PackageResources.retry_js), ("series", PackageResources.series_js),
            ("room", PackageResources.room_js), ("share", PackageResources.share_js),
            ("slots", PackageResources.slots_js),
            ("store", PackageResources.store_js), ("stream", PackageResources.stream_js),
            ("time", PackageResources.time_js), ("words", PackageResources.words_js),
        ]
    }
}

/// A file of the page as it is served: compressed once, and with everything that caches need to know.
struct PageAsset: Sendable {
    /// What the content is known by, whatever its form.
    let digest: String
    private let plain: Form
    /// `nil` where compressing gains nothing.
    private let compressed: Form?
    private let headers: [HTTPField]

    /// One representation (RFC 9110 §8): each has an entity tag of its own.
    private struct Form: Sendable {
        let bytes: [UInt8]
        let tag: String
    }

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(_ bytes: [UInt8], contentType: String, headers: [HTTPField]) throws {
        let digest = Base64.encodeForURL(try SHA256.digest(bytes).prefix(12))
        self.digest = digest
        plain = Form(bytes: bytes, tag: "\"\(digest)\"")
        let gzip = Gzip.compress(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
        compressed = gzip.map { Form(bytes: $0, tag: "\"\(digest)-gzip\"") }
        self.headers = [HTTPField("Content-Type", contentType)] + headers
    }

    /// Bytes of content that go over the wire to a browser.
    var transferredSize: Int { (compressed ?? plain).bytes.count }
    var size: Int { plain.bytes.count }

    /// The answer to a GET or HEAD: the content, or `304` to who has it.
    func response(to head: HTTPRequestHead) -> Response {
        let form = compressed.flatMap { head.headers.prefersGzip ? $0 : nil } ?? plain
        // Revalidated each time: then the files that make up the page are always of one build.
        var fields = [HTTPField("ETag", form.tag), HTTPField("Cache-Control", "no-cache")]
        if compressed != nil { fields.append(HTTPField("Vary", "Accept-Encoding")) }
        if head.headers.names(entityTag: form.tag) { return Response(.notModified, headers: fields) }
        if form.tag != plain.tag { fields.append(HTTPField("Content-Encoding", "gzip")) }
        return Response(headers: headers + fields, body: .bytes(form.bytes))
    }
}
