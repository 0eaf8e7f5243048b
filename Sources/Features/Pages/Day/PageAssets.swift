import CEmbedded
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
            // A service worker serves what is below its own path, unless it is allowed more.
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
            ("time", .time_js), ("words", .words_js),
        ]
    }
}

extension EmbeddedFile {
    /// What is in it.
    var content: [UInt8] { Array(UnsafeRawBufferPointer(start: bytes, count: count)) }
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
