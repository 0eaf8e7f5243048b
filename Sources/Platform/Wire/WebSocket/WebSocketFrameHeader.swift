/// The parsed and checked header of a frame (RFC 6455 §5.2). `WebSocketFrameEncoder` has a drawing of it.
package struct WebSocketFrameHeader {
    /// The rules that the next header must follow.
    package struct Rules {
        let role: WebSocketRole
        let allowsCompressed: Bool
        /// The message whose fragments are arriving, or `nil` between messages.
        let openMessage: (bytes: Int, isCompressed: Bool)?
        let maxMessageBytes: Int

        package init(
            role: WebSocketRole, allowsCompressed: Bool = false, openMessage: (bytes: Int, isCompressed: Bool)? = nil,
            maxMessageBytes: Int
        ) {
            self.role = role
            self.allowsCompressed = allowsCompressed
            self.openMessage = openMessage
            self.maxMessageBytes = maxMessageBytes
        }
    }

    /// The maximum size of a header in bytes.
    static var longest: Int { 14 }

    package let isFinal: Bool
    let isCompressed: Bool
    package let opcode: WebSocketOpcode
    let mask: WebSocketMask?
    package let payloadBytes: Int
    /// The size of this header in bytes.
    package let count: Int

    /// Parses a header. Returns `nil` if `bytes` end before the header does. An error is thrown at the first byte that
    /// shows it.
    package init?(_ bytes: UnsafeRawBufferPointer, rules: Rules) throws(WebSocketError) {
        guard let first = bytes.first else { return nil }
        opcode = try Self.opcode(first, rules: rules)
        isFinal = first & 0x80 != 0
        isCompressed = first & 0x40 != 0

        guard bytes.count > 1 else { return nil }
        let isMasked = bytes[1] & 0x80 != 0
        switch rules.role {
        case .server where !isMasked: throw .unmasked
        case .client where isMasked: throw .masked
        default: break
        }
        let short = Int(bytes[1] & 0x7F)
        guard !opcode.isControl || short <= 125 else { throw .longControl }

        let lengthEnd = short < 126 ? 2 : short == 126 ? 4 : 10
        guard bytes.count >= lengthEnd else { return nil }
        payloadBytes = short < 126 ? short : try Self.extendedLength(bytes.part(2..<lengthEnd))
        if !opcode.isControl {
            let limit =
                rules.openMessage?.isCompressed ?? isCompressed
                ? WebSocketDeflate.longestPayload(of: rules.maxMessageBytes) : rules.maxMessageBytes
            guard payloadBytes <= limit - (rules.openMessage?.bytes ?? 0) else {
                throw .messageTooBig(limit: rules.maxMessageBytes)
            }
        }

        count = lengthEnd + (isMasked ? 4 : 0)
        guard bytes.count >= count else { return nil }
        mask =
            isMasked
            ? WebSocketMask(bytes[lengthEnd], bytes[lengthEnd + 1], bytes[lengthEnd + 2], bytes[lengthEnd + 3]) : nil
    }

    private static func opcode(_ first: UInt8, rules: Rules) throws(WebSocketError) -> WebSocketOpcode {
        guard first & 0x30 == 0 else { throw .reservedBit }
        guard let opcode = WebSocketOpcode(rawValue: first & 0x0F) else { throw .reservedOpcode }
        if first & 0x40 != 0 {
            guard rules.allowsCompressed else { throw .reservedBit }
            guard opcode == .text || opcode == .binary else { throw .misplacedCompressionBit }
        }
        switch opcode {
        case .continuation:
            guard rules.openMessage != nil else { throw .strayContinuation }
        case .text, .binary:
            guard rules.openMessage == nil else { throw .interruptedMessage }
        case .close, .ping, .pong:
            guard first & 0x80 != 0 else { throw .fragmentedControl }
        }
        return opcode
    }

    /// Reads a length of two or eight bytes, the most significant byte first.
    private static func extendedLength(_ bytes: UnsafeRawBufferPointer) throws(WebSocketError) -> Int {
        let length = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= UInt64(Int64.max) else { throw .hugeLength }
        guard length > (bytes.count == 2 ? 125 : 65_535) else { throw .longLength }
        return Int(length)
    }
}

/// The type of a frame (RFC 6455 §5.2). All other numbers are reserved.
package enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Whether this is a close, ping or pong frame. Such frames are short and whole, and may come between the fragments
    /// of a message (§5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}

/// The end of the connection that reads. A client masks its frames, and a server doesn't (RFC 6455 §5.1).
package enum WebSocketRole: Sendable, Hashable {
    case server, client
}
