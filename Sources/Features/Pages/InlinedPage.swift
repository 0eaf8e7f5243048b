import Crypto
import Wire

/// A page that is one answer: its style sheet and its script stand in the HTML.
struct InlinedPage: Sendable {
    let html: String
    /// What the page may load and do (Content Security Policy Level 3): what is in it, and talk to this server.
    let contentSecurityPolicy: String

    /// - Parameters:
    ///   - html: Without style and script.
    ///   - forms: Where forms may lead: a source list.
    ///   - hasWorker: Whether its script has the service worker keep it.
    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(html: [UInt8], style: String, script: String, forms: String, hasWorker: Bool = false) throws {
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
