import Crypto
import Server
import Wire

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
