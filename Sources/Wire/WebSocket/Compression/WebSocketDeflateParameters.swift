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

extension WebSocketDeflateParameters {
    /// What a server answers to the first of `offers` that it can take (RFC 7692 §5); `nil`: it declines them all.
    init?(firstAcceptable offers: [WebSocketExtensionOffer], _ policy: WebSocketCompression) {
        for offer in offers where offer.name == "permessage-deflate" {
            if let accepted = Self(accepting: offer, policy) {
                self = accepted
                return
            }
        }
        return nil
    }

    /// The answer to one offer. An unknown parameter, one that occurs twice and a value that is none decline the offer
    /// (§7.1); they are no errors.
    private init?(accepting offer: WebSocketExtensionOffer, _ policy: WebSocketCompression) {
        guard policy != .none else { return nil }
        self.init()
        var seen: Set<String> = []
        for parameter in offer.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil):
                serverNoContextTakeover = true
            case ("client_no_context_takeover", nil):
                // A hint that the client won't. Taken at its word, its inflater need not be kept (§7.1.1.2).
                clientNoContextTakeover = true
            case ("server_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                serverMaxWindowBits = bits
            case ("client_max_window_bits", nil):
                // The client could be told a smaller window than 32 KB: nobody has asked for that.
                continue
            case ("client_max_window_bits", let value?):
                guard let bits = Self.windowBits(value) else { return nil }
                clientMaxWindowBits = bits
            default:
                return nil
            }
        }
        if policy == .noContextTakeover {
            // A server may ask for both without an offer of them (§7.1.1.1, §7.1.1.2).
            serverNoContextTakeover = true
            clientNoContextTakeover = true
        }
        // The client's window matters to an inflater that is kept; any other is large enough for every window.
        if clientNoContextTakeover { clientMaxWindowBits = nil }
    }

    /// A decimal integer without leading zeroes between 8 and 15 (§7.1.2.1).
    private static func windowBits(_ value: String) -> UInt8? {
        guard value.utf8.allSatisfy(ASCII.isDigit), value.utf8.first != UInt8(ascii: "0"), let bits = UInt8(value)
        else { return nil }
        return windowBits.contains(bits) ? bits : nil
    }
}
