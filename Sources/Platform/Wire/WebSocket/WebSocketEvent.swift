/// An event of a `WebSocketParser`. Its payload is unmasked, may be changed in place, and is valid until the next call.
package enum WebSocketEvent {
    /// A whole text or binary message. Text is valid UTF-8, unless it is compressed. The inflater must check compressed
    /// text.
    case message(opcode: WebSocketOpcode, isCompressed: Bool, UnsafeMutableRawBufferPointer)
    /// A whole frame of a message that isn't complete yet. It needs no action, but should count against limits: a
    /// message may have any number of empty fragments.
    case fragment
    /// A ping. The answer is a pong with the same payload (RFC 6455 §5.5.2).
    case ping(UnsafeMutableRawBufferPointer)
    case pong(UnsafeMutableRawBufferPointer)
    /// The peer closes the connection. `code` may be sent back; it is `nil` if the frame had none. The parser reads
    /// nothing after it.
    case close(code: WebSocketCloseCode?, reason: String)
}

/// The code of a close frame (RFC 6455 §7.4, and the registry of codes).
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static var normalClosure: Self { Self(rawValue: 1000) }
    package static var goingAway: Self { Self(rawValue: 1001) }
    package static var protocolError: Self { Self(rawValue: 1002) }
    /// The close frame had no code. This code is never sent.
    package static var noStatusReceived: Self { Self(rawValue: 1005) }
    /// The connection was lost without a close frame. This code is never sent.
    package static var abnormalClosure: Self { Self(rawValue: 1006) }
    package static var invalidPayload: Self { Self(rawValue: 1007) }
    package static var policyViolation: Self { Self(rawValue: 1008) }
    package static var messageTooBig: Self { Self(rawValue: 1009) }
    package static var internalError: Self { Self(rawValue: 1011) }
    package static var tryAgainLater: Self { Self(rawValue: 1013) }

    /// Whether a close frame may contain the code. These are the registered codes that aren't reserved, and the codes
    /// for libraries and applications (§7.4.2).
    package var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
