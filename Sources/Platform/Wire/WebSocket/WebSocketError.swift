/// A peer's violation of the protocol or of a limit. The connection must be failed with this code and reason (RFC 6455
/// §7.1.7).
package struct WebSocketError: Error, Sendable, Hashable {
    package let code: WebSocketCloseCode
    /// The violated rule. It has at most 123 bytes, so that it fits into a close frame.
    package let reason: String

    private init(_ code: WebSocketCloseCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static var reservedBit: Self { Self(.protocolError, "RFC 6455 §5.2: reserved bits must be 0") }
    static var misplacedCompressionBit: Self {
        Self(.protocolError, "RFC 7692 §6.1: RSV1 must be set only on the first frame of a message")
    }
    static var reservedOpcode: Self { Self(.protocolError, "RFC 6455 §5.2: the opcode is reserved") }
    static var unmasked: Self { Self(.protocolError, "RFC 6455 §5.1: a client's frames must be masked") }
    static var masked: Self { Self(.protocolError, "RFC 6455 §5.1: a server's frames must not be masked") }
    static var fragmentedControl: Self { Self(.protocolError, "RFC 6455 §5.5: a control frame must not be fragmented") }
    static var longControl: Self { Self(.protocolError, "RFC 6455 §5.5: a control frame must have at most 125 bytes") }
    static var longLength: Self {
        Self(.protocolError, "RFC 6455 §5.2: a length must be encoded in as few bytes as possible")
    }
    static var hugeLength: Self { Self(.protocolError, "RFC 6455 §5.2: the highest bit of a length must be 0") }
    static var strayContinuation: Self {
        Self(.protocolError, "RFC 6455 §5.4: a continuation frame must follow an unfinished message")
    }
    static var interruptedMessage: Self {
        Self(.protocolError, "RFC 6455 §5.4: a new message must not begin before the previous one has ended")
    }
    static var halfCloseCode: Self { Self(.protocolError, "RFC 6455 §5.5.1: a close code must have two bytes") }
    static var badCloseCode: Self { Self(.protocolError, "RFC 6455 §7.4: this close code must not be sent") }
    static var closeReasonNotUTF8: Self { Self(.invalidPayload, "RFC 6455 §5.5.1: a close reason must be UTF-8") }
    static var textNotUTF8: Self { Self(.invalidPayload, "RFC 6455 §8.1: a text message must be UTF-8") }
    static var corruptDeflate: Self {
        Self(.invalidPayload, "RFC 7692 §7.2: the payload of a compressed message must be valid DEFLATE data")
    }
    static var truncatedDeflate: Self {
        Self(
            .invalidPayload,
            "RFC 7692 §7.2.1: a compressed message must end with an empty block, without its 00 00 FF FF")
    }
    static var outOfMemory: Self { Self(.internalError, "out of memory") }
    static func messageTooBig(limit: Int) -> Self {
        Self(.messageTooBig, "RFC 6455 §10.4: a message must have at most \(limit) bytes here")
    }
}
