/// What a server does with offers of permessage-deflate (RFC 7692).
package enum WebSocketCompression: Sendable, Hashable {
    /// Declines them all.
    case none
    /// Takes them, and has every message compressed by itself, both ways (§7.1.1). Between two messages a connection then
    /// holds no memory of zlib's; the price is that nothing is saved on messages that resemble the last one.
    case noContextTakeover
    /// Takes them, and keeps what was sent as the dictionary for what follows, unless the client asks otherwise: about
    /// 300 KB a connection, once compressed messages went both ways, less with smaller windows.
    case full
}

/// What the two ends agreed on for permessage-deflate (RFC 7692 §7.1), the server's messages first.
package struct WebSocketDeflateParameters: Sendable, Hashable {
    /// What a window may be, as the base-2 logarithm of its bytes (§7.1.2).
    package static var windowBits: ClosedRange<UInt8> { 8...15 }

    /// The server forgets after each message what it sent (§7.1.1.1).
    package var serverNoContextTakeover = false
    /// The client does (§7.1.1.2).
    package var clientNoContextTakeover = false
    /// How far back the server's messages refer (§7.1.2.1); `nil`: as far as DEFLATE can.
    package var serverMaxWindowBits: UInt8?
    /// How far back the client's refer (§7.1.2.2).
    package var clientMaxWindowBits: UInt8?

    package init() {}

    /// The answer to an offer (§5.1): an element for `Sec-WebSocket-Extensions`.
    package var response: String {
        var text = "permessage-deflate"
        if serverNoContextTakeover { text += "; server_no_context_takeover" }
        if clientNoContextTakeover { text += "; client_no_context_takeover" }
        if let serverMaxWindowBits { text += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if let clientMaxWindowBits { text += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return text
    }
}
