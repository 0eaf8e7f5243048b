/// A server's policy for offers of permessage-deflate (RFC 7692).
package enum WebSocketCompression: Sendable, Hashable {
    /// Declines all offers.
    case none
    /// Accepts offers, and compresses every message independently in both directions (§7.1.1). Between messages, a
    /// connection holds no memory of zlib. Messages don't become smaller by resembling earlier ones.
    case noContextTakeover
    /// Accepts offers, and keeps earlier messages as the dictionary unless the client declines it. After compressed
    /// messages in both directions, a connection holds about 300 KB, or less with smaller windows.
    case full
}

/// The negotiated parameters of permessage-deflate (RFC 7692 §7.1), the server's first.
package struct WebSocketDeflateParameters: Sendable, Hashable {
    /// The valid sizes of a window, as the base-2 logarithm of its bytes (§7.1.2).
    package static var windowBits: ClosedRange<UInt8> { 8...15 }

    /// Whether the server resets its window after each message (§7.1.1.1).
    package var serverNoContextTakeover = false
    /// Whether the client resets its window after each message (§7.1.1.2).
    package var clientNoContextTakeover = false
    /// The size of the window for the server's messages (§7.1.2.1), or `nil` for the largest.
    package var serverMaxWindowBits: UInt8?
    /// The size of the window for the client's messages (§7.1.2.2), or `nil` for the largest.
    package var clientMaxWindowBits: UInt8?

    package init() {}

    /// The answer to an offer (§5.1), as an element of `Sec-WebSocket-Extensions`.
    package var response: String {
        var text = "permessage-deflate"
        if serverNoContextTakeover { text += "; server_no_context_takeover" }
        if clientNoContextTakeover { text += "; client_no_context_takeover" }
        if let serverMaxWindowBits { text += "; server_max_window_bits=\(serverMaxWindowBits)" }
        if let clientMaxWindowBits { text += "; client_max_window_bits=\(clientMaxWindowBits)" }
        return text
    }
}
