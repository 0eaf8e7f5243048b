/// The server's answer to a client's offers (RFC 7692 §5). It accepts the first acceptable offer of permessage-deflate.
/// The caller passes the elements of ``WebSocketExtensionScanner``.
struct WebSocketDeflateNegotiation {
    private enum Parameter: UInt8 {
        case serverNoContextTakeover, clientNoContextTakeover, serverMaxWindowBits, clientMaxWindowBits

        init?(_ name: UnsafeRawBufferPointer) {
            func isCalled(_ text: StaticString) -> Bool { name.equals(UnsafeRawBufferPointer(text)) }
            if isCalled("server_no_context_takeover") {
                self = .serverNoContextTakeover
            } else if isCalled("client_no_context_takeover") {
                self = .clientNoContextTakeover
            } else if isCalled("server_max_window_bits") {
                self = .serverMaxWindowBits
            } else if isCalled("client_max_window_bits") {
                self = .clientMaxWindowBits
            } else {
                return nil
            }
        }
    }

    private let policy: WebSocketCompression
    /// The answer to the current offer. `nil` if the offer is declined, or is for another extension.
    private var draft: WebSocketDeflateParameters?
    /// The parameters of the current offer that were seen until now, by their raw values.
    private var seen: UInt8 = 0
    /// The answer, or `nil` if no complete offer is acceptable.
    private(set) var answer: WebSocketDeflateParameters?

    init(_ policy: WebSocketCompression) {
        self.policy = policy
    }

    mutating func take(_ element: WebSocketExtensionScanner.Element) {
        switch element {
        case .offer(let name):
            endOffer()
            let isMeant = policy != .none && answer == nil && name.equals(UnsafeRawBufferPointer("permessage-deflate"))
            draft = isMeant ? WebSocketDeflateParameters() : nil
            seen = 0
        case .parameter(let name, let value):
            guard let taken = draft else { return }
            draft = adding(name, value, to: taken)
        }
    }

    /// Ends the current offer.
    mutating func endOffer() {
        guard var accepted = draft else { return }
        draft = nil
        if policy == .noContextTakeover {
            // A server may request this for both directions, even if the client hasn't offered it (§7.1.1.1, §7.1.1.2).
            accepted.serverNoContextTakeover = true
            accepted.clientNoContextTakeover = true
        }
        // The client's window matters only if the inflater is kept. Otherwise the inflater has the largest window
        // anyway.
        if accepted.clientNoContextTakeover { accepted.clientMaxWindowBits = nil }
        answer = accepted
    }

    /// Returns the draft with a parameter. Returns `nil` for an unknown or repeated parameter, or an invalid value.
    /// Such an offer is declined (§7.1), but isn't an error.
    private mutating func adding(
        _ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, to offer: WebSocketDeflateParameters
    ) -> WebSocketDeflateParameters? {
        guard let parameter = Parameter(name), seen & 1 << parameter.rawValue == 0 else { return nil }
        seen |= 1 << parameter.rawValue
        var offer = offer
        switch (parameter, value) {
        case (.serverNoContextTakeover, nil):
            offer.serverNoContextTakeover = true
        case (.clientNoContextTakeover, nil):
            // The client hints that it won't use context takeover. The answer makes this binding, so the inflater for
            // its messages needn't be kept (§7.1.1.2).
            offer.clientNoContextTakeover = true
        case (.serverMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.serverMaxWindowBits = bits
        case (.clientMaxWindowBits, nil):
            // The client could be asked for a window smaller than 32 KB. This isn't implemented.
            break
        case (.clientMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.clientMaxWindowBits = bits
        case (.serverNoContextTakeover, _?), (.clientNoContextTakeover, _?), (.serverMaxWindowBits, nil):
            return nil
        }
        return offer
    }

    /// Parses a decimal integer from 8 to 15 without leading zeros (§7.1.2.1). It may be quoted and escaped.
    private static func windowBits(_ value: UnsafeRawBufferPointer) -> UInt8? {
        var bits: UInt8 = 0
        for byte in value where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            guard ASCII.isDigit(byte), bits > 0 || byte != UInt8(ascii: "0"), bits < 10 else { return nil }
            bits = bits * 10 + (byte - UInt8(ascii: "0"))
        }
        return WebSocketDeflateParameters.windowBits.contains(bits) ? bits : nil
    }
}
