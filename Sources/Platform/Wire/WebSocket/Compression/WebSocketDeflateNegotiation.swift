/// What a server answers to a client's offers (RFC 7692 §5): the first of permessage-deflate that it can take. Fed with what
/// ``WebSocketExtensionScanner`` finds.
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
    /// To the offer that is being read; `nil` when it is declined, or another extension's.
    private var draft: WebSocketDeflateParameters?
    /// Which parameters that offer has had, by their raw values.
    private var seen: UInt8 = 0
    /// `nil`: none of the offers that have ended can be taken.
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

    /// There are no more parameters.
    mutating func endOffer() {
        guard var accepted = draft else { return }
        draft = nil
        if policy == .noContextTakeover {
            // A server may ask for both without an offer of them (§7.1.1.1, §7.1.1.2).
            accepted.serverNoContextTakeover = true
            accepted.clientNoContextTakeover = true
        }
        // The client's window matters to an inflater that is kept; any other is large enough for every window.
        if accepted.clientNoContextTakeover { accepted.clientMaxWindowBits = nil }
        answer = accepted
    }

    /// An unknown parameter, one that occurs twice and a value that is none decline the offer (§7.1): `nil`. They are no errors.
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
            // A hint that the client won't. Taken at its word, its inflater need not be kept (§7.1.1.2).
            offer.clientNoContextTakeover = true
        case (.serverMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.serverMaxWindowBits = bits
        case (.clientMaxWindowBits, nil):
            // The client could be told a smaller window than 32 KB: nobody has asked for that.
            break
        case (.clientMaxWindowBits, let value?):
            guard let bits = Self.windowBits(value) else { return nil }
            offer.clientMaxWindowBits = bits
        case (.serverNoContextTakeover, _?), (.clientNoContextTakeover, _?), (.serverMaxWindowBits, nil):
            return nil
        }
        return offer
    }

    /// A decimal integer without leading zeroes between 8 and 15 (§7.1.2.1), perhaps in quotes and with escapes.
    private static func windowBits(_ value: UnsafeRawBufferPointer) -> UInt8? {
        var bits: UInt8 = 0
        for byte in value where byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
            guard ASCII.isDigit(byte), bits > 0 || byte != UInt8(ascii: "0"), bits < 10 else { return nil }
            bits = bits * 10 + (byte - UInt8(ascii: "0"))
        }
        return WebSocketDeflateParameters.windowBits.contains(bits) ? bits : nil
    }
}
