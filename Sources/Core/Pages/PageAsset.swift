package import CEmbedded
import Crypto
package import Server
package import Wire

extension EmbeddedFile {
    /// The content of the file.
    package var content: [UInt8] { Array(UnsafeRawBufferPointer(start: bytes, count: count)) }
}

/// A file of the page as it is sent: compressed once, with the header fields for caches.
package struct PageAsset: Sendable {
    /// The digest that identifies the content in all its representations.
    package let digest: String
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
    package init(_ bytes: [UInt8], contentType: String, headers: [HTTPField]) throws {
        let digest = Base64.encodeForURL(try SHA256.digest(bytes).prefix(12))
        self.digest = digest
        plain = Form(bytes: bytes, tag: "\"\(digest)\"")
        let gzip = Gzip.compress(bytes).flatMap { $0.count < bytes.count ? $0 : nil }
        compressed = gzip.map { Form(bytes: $0, tag: "\"\(digest)-gzip\"") }
        self.headers = [HTTPField("Content-Type", contentType)] + headers
    }

    /// The number of bytes that are sent to a browser.
    package var transferredSize: Int { (compressed ?? plain).bytes.count }
    package var size: Int { plain.bytes.count }

    /// Returns the answer to a GET or HEAD: the content, or `304` if the client has it.
    package func response(to head: HTTPRequestHead) -> Response {
        let form = compressed.flatMap { head.headers.prefersGzip ? $0 : nil } ?? plain
        // Browsers ask each time whether the file has changed, so that all files of the page belong to the same build.
        var fields = [HTTPField("ETag", form.tag), HTTPField("Cache-Control", "no-cache")]
        if compressed != nil { fields.append(HTTPField("Vary", "Accept-Encoding")) }
        if head.headers.names(entityTag: form.tag) { return Response(.notModified, headers: fields) }
        if form.tag != plain.tag { fields.append(HTTPField("Content-Encoding", "gzip")) }
        return Response(headers: headers + fields, body: .bytes(form.bytes))
    }
}
