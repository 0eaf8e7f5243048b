import Crypto
import Wire

/// The settings of the server that the page needs.
package struct PageFacts: Sendable {
    /// The time before the start at which registration closes and the room opens.
    let lead: Duration
    /// The time after the start at which the room closes.
    let roomDuration: Duration
    /// The time after the start for which a waiting user may still be joined.
    let lateJoin: Duration
    /// Whether browsers can subscribe to Web Push.
    let offersPush: Bool
    /// Whether partners can open conversations.
    let offersConversations: Bool

    package init(
        lead: Duration, roomDuration: Duration, lateJoin: Duration, offersPush: Bool, offersConversations: Bool
    ) {
        self.lead = lead
        self.roomDuration = roomDuration
        self.lateJoin = lateJoin
        self.offersPush = offersPush
        self.offersConversations = offersConversations
    }
}

/// The page's HTML as it is sent. It includes the settings and the style sheet, so that the browser can paint after the
/// first answer.
struct PageDocument: Sendable {
    let html: [UInt8]
    /// The Content Security Policy (Level 3), which limits what the page can load. The policy also applies to the
    /// service worker, so it must allow what the worker fetches.
    let contentSecurityPolicy: String

    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
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
            .replacing(
                #"data-conversations="true""#, with: #"data-conversations="\#(facts.offersConversations)""#)
        self.html = Array(document.utf8)
        let hash = Base64.encode(try SHA256.digest(Array(style.utf8)))
        contentSecurityPolicy = [
            "default-src 'none'", "script-src 'self'", "style-src 'sha256-\(hash)'", "img-src 'self'",
            "connect-src 'self'", "manifest-src 'self'", "worker-src 'self'", "base-uri 'none'", "form-action 'none'",
            // The page never creates HTML from text. The only script URL created at run time is that of the service
            // worker.
            "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types page",
        ].joined(separator: "; ")
    }
}
