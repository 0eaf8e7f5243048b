import CEmbedded
import Crypto
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

extension EmbeddedFile {
    /// The content of the file.
    var content: [UInt8] { Array(UnsafeRawBufferPointer(start: bytes, count: count)) }
}

/// A file of the page as it is sent: compressed once, with the header fields for caches.
struct PageAsset: Sendable {
    /// Identifies the content in every form.
    let digest: String
    private let plain: Form
    /// `nil` if compression gains nothing.
    private let compressed: Form?
    private let headers: [HTTPField]

    /// One representation (RFC 9110 §8). Each has its own entity tag.
    private struct Form: Sendable {
        let bytes: [UInt8]
        let tag: String
    }

    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    init(_ bytes: [UInt8], contentType: String, headers: [HTTPField]) throws {
        let digest = Base64.encodeForURL(try SHA256.digest(bytes).prefix(12))
        self.digest = digest
        plain = Form(bytes: bytes, tag: "\"\(digest)\"")
        let gzip = Gzip.compress(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
        compressed = gzip.map { Form(bytes: $0, tag: "\"\(digest)-gzip\"") }
        self.headers = [HTTPField("Content-Type", contentType)] + headers
    }

    /// The number of bytes that are sent to a browser.
    var transferredSize: Int { (compressed ?? plain).bytes.count }
    var size: Int { plain.bytes.count }

    /// Returns the answer to a GET or HEAD: the content, or `304` if the client has it.
    func response(to head: HTTPRequestHead) -> Response {
        let form = compressed.flatMap { head.headers.prefersGzip ? $0 : nil } ?? plain
        // Browsers ask each time, so that all files of the page belong to the same build.
        var fields = [HTTPField("ETag", form.tag), HTTPField("Cache-Control", "no-cache")]
        if compressed != nil { fields.append(HTTPField("Vary", "Accept-Encoding")) }
        if head.headers.names(entityTag: form.tag) { return Response(.notModified, headers: fields) }
        if form.tag != plain.tag { fields.append(HTTPField("Content-Encoding", "gzip")) }
        return Response(headers: headers + fields, body: .bytes(form.bytes))
    }
}
