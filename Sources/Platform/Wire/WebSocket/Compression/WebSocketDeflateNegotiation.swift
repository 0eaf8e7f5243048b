/// The server's answer to a client's offers (RFC 7692 §5): the first acceptable offer of permessage-deflate. Fed with
/// the elements of ``WebSocketExtensionScanner``.
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
    /// The answer to the current offer; `nil` if it is declined or for another extension.
    private var draft: WebSocketDeflateParameters?
    /// The parameters of the current offer so far, by their raw values.
    private var seen: UInt8 = 0
    /// `nil` if no complete offer is acceptable.
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
            // A server may request both without an offer (§7.1.1.1, §7.1.1.2).
            accepted.serverNoContextTakeover = true
            accepted.clientNoContextTakeover = true
        }
        // The client's window matters only to an inflater that is kept. Other inflaters have the largest window.
        if accepted.clientNoContextTakeover { accepted.clientMaxWindowBits = nil }
        answer = accepted
    }

    /// Returns `nil` for an unknown or repeated parameter, or an invalid value: the offer is declined (§7.1). They are
    /// not errors.
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
            // The client hints that it won't. The answer makes it binding, so its inflater need not be kept (§7.1.1.2).
            offer.clientNoContextTakeover = true
        case (.serverMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.serverMaxWindowBits = bits
        case (.clientMaxWindowBits, nil):
            // The client could be asked for a smaller window than 32 KB. That isn't implemented.
            break
        case (.clientMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.clientMaxWindowBits = bits
        case (.serverNoContextTakeover, _?), (.clientNoContextTakeover, _?), (.serverMaxWindowBits, nil):
            return nil
        }
        return offer
    }

    /// A decimal integer without leading zeroes from 8 to 15 (§7.1.2.1), possibly quoted and escaped.
    private static func windowBits(_ value: UnsafeRawBufferPointer) -> UInt8? {
        var bits: UInt8 = 0
        for byte in value where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            guard ASCII.isDigit(byte), bits > 0 || byte != UInt8(ascii: "0"), bits < 10 else { return nil }
            bits = bits * 10 + (byte - UInt8(ascii: "0"))
        }
        return WebSocketDeflateParameters.windowBits.contains(bits) ? bits : nil
    }
}
