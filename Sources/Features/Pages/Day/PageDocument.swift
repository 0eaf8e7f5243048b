import Crypto
import Wire

/// What the page has to know of the server.
package struct PageFacts: Sendable {
    /// How long before the start registration closes and the room opens.
    let lead: Duration
    /// How long after the start the room closes.
    let roomDuration: Duration
    /// Until how long after the start whoever waits may be joined.
    let lateJoin: Duration
    /// Whether browsers can subscribe to Web Push; if not, they need not ask.
    let offersPush: Bool

    package init(lead: Duration, roomDuration: Duration, lateJoin: Duration, offersPush: Bool) {
        self.lead = lead
        self.roomDuration = roomDuration
        self.lateJoin = lateJoin
        self.offersPush = offersPush
    }
}

/// The page's HTML as it is sent: the style sheet within it, so that the first answer alone can be painted, and the settings
/// that it has to know.
struct PageDocument: Sendable {
    let html: [UInt8]
    /// What the page may load and do (Content Security Policy Level 3). It covers the service worker too, whose own answer
    /// has to allow what it fetches.
    let contentSecurityPolicy: String

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(html: [UInt8], styleSheet: [UInt8], facts: PageFacts) throws {
        let style = String(decoding: styleSheet, as: UTF8.self)
        let document = String(decoding: html, as: UTF8.self)
            .replacing(#"<link rel="stylesheet" href="/page/page.css">"#, with: "<style>\(style)</style>")
            .replacing(#"data-lead="60""#, with: #"data-lead="\#(facts.lead / .seconds(1))""#)
            .replacing(
                #"data-room-duration="3600""#, with: #"data-room-duration="\#(facts.roomDuration / .seconds(1))""#
            )
            .replacing(#"data-late-join="300""#, with: #"data-late-join="\#(facts.lateJoin / .seconds(1))""#)
            .replacing(#"data-push="false""#, with: #"data-push="\#(facts.offersPush)""#)
        self.html = Array(document.utf8)
        let hash = Base64.encode(try SHA256.digest(Array(style.utf8)))
        contentSecurityPolicy = [
            "default-src 'none'", "script-src 'self'", "style-src 'sha256-\(hash)'", "img-src 'self'",
            "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'",
            // No HTML is ever made of text; the one script URL that is made at run time is the service worker's.
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types page",
        ].joined(separator: "; ")
    }
}
