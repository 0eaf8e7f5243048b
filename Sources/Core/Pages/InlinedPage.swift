import Crypto
import Wire

/// A page in one answer: its HTML contains the style sheet and the script.
package struct InlinedPage: Sendable {
    package let html: String
    /// The Content Security Policy (Level 3). It allows only the page's own content, and requests to this server.
    package let contentSecurityPolicy: String

    /// - Parameters:
    ///   - html: The HTML without style and script.
    ///   - forms: The allowed targets of forms, as a source list.
    ///   - hasWorker: Whether its script registers the service worker.
    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    package init(html: [UInt8], style: String, script: String, forms: String, hasWorker: Bool = false) throws {
        func hash(_ text: String) throws -> String { "'sha256-\(Base64.encode(try SHA256.digest(Array(text.utf8))))'" }
        let own = [
            "default-src 'none'", "script-src \(try hash(script))", "style-src \(try hash(style))", "img-src 'self'",
            "connect-src 'self'", "base-uri 'none'", "form-action \(forms)", "frame-ancestors 'none'",
            "require-trusted-types-for 'script'", "trusted-types \(hasWorker ? "page" : "'none'")",
        ]
        let policy = hasWorker ? own + ["worker-src 'self'"] : own
        contentSecurityPolicy = policy.joined(separator: "; ")
        self.html = String(decoding: html, as: UTF8.self)
            .replacing("</head>", with: "<style>\(style)</style>\n</head>")
            .replacing("</body>", with: "<script type=\"module\">\(script)</script>\n</body>")
    }
}
