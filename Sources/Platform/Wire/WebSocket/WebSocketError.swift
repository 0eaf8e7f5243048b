/// A violation of the protocol or a limit by a peer. The connection must be failed with this code and reason (RFC 6455
/// §7.1.7).
package struct WebSocketError: Error, Sendable, Hashable {
    package let code: WebSocketCloseCode
    /// The violated rule, at most 123 bytes, so that it fits into a close frame.
    package let reason: String

    private init(_ code: WebSocketCloseCode, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static var reservedBit: Self { Self(.protocolError, "RFC 6455 §5.2: a reserved bit is set") }
    static var misplacedCompressionBit: Self {
        Self(.protocolError, "RFC 7692 §6.1: RSV1 is set on the first frame of a message, and on no other")
    }
    static var reservedOpcode: Self { Self(.protocolError, "RFC 6455 §5.2: a reserved opcode") }
    static var unmasked: Self { Self(.protocolError, "RFC 6455 §5.1: a client's frames are masked") }
    static var masked: Self { Self(.protocolError, "RFC 6455 §5.1: a server's frames are not masked") }
    static var fragmentedControl: Self { Self(.protocolError, "RFC 6455 §5.5: a control frame is not fragmented") }
    static var longControl: Self { Self(.protocolError, "RFC 6455 §5.5: a control frame has at most 125 bytes") }
    static var longLength: Self { Self(.protocolError, "RFC 6455 §5.2: a length is written in the fewest bytes") }
    static var hugeLength: Self { Self(.protocolError, "RFC 6455 §5.2: a length's highest bit is 0") }
    static var strayContinuation: Self {
        Self(.protocolError, "RFC 6455 §5.4: a continuation without a message to continue")
    }
    static var interruptedMessage: Self {
        Self(.protocolError, "RFC 6455 §5.4: a new message before the last one's final fragment")
    }
    static var halfCloseCode: Self { Self(.protocolError, "RFC 6455 §5.5.1: a close code has two bytes") }
    static var badCloseCode: Self { Self(.protocolError, "RFC 6455 §7.4: a close code that is not sent") }
    static var closeReasonNotUTF8: Self { Self(.invalidPayload, "RFC 6455 §5.5.1: a close reason is UTF-8") }
    static var textNotUTF8: Self { Self(.invalidPayload, "RFC 6455 §8.1: a text message is UTF-8") }
    static var corruptDeflate: Self {
        Self(.invalidPayload, "RFC 7692 §7.2: the payload of a compressed message is DEFLATE")
    }
    static var truncatedDeflate: Self {
        Self(.invalidPayload, "RFC 7692 §7.2.1: a compressed message ends within an empty block, less 00 00 FF FF")
    }
    static var outOfMemory: Self { Self(.internalError, "out of memory") }
    static func messageTooBig(limit: Int) -> Self {
        Self(.messageTooBig, "RFC 6455 §10.4: a message has at most \(limit) bytes here")
    }
}
