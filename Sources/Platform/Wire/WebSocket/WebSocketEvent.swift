/// What a `WebSocketParser` found. Payloads are unmasked, may be changed in place, and are valid until the next call.
package enum WebSocketEvent {
    /// A whole message, text or binary. Text is UTF-8, checked, unless it is compressed: then that is left to whoever
    /// inflates it.
    case message(opcode: WebSocketOpcode, isCompressed: Bool, UnsafeMutableRawBufferPointer)
    /// A whole frame of a message that goes on: nothing to act on, but work that the peer asked for. A message may have any
    /// number of them, since they may be empty.
    case fragment
    /// To be answered with a pong of the same payload (RFC 6455 §5.5.2).
    case ping(UnsafeMutableRawBufferPointer)
    case pong(UnsafeMutableRawBufferPointer)
    /// The peer closes; the code is one that may be sent, `nil` when there was none. Nothing is read after it.
    case close(code: WebSocketCloseCode?, reason: String)
}

/// Why a connection is closed (RFC 6455 §7.4, and the registry it founded).
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static var normalClosure: Self { Self(rawValue: 1000) }
    package static var goingAway: Self { Self(rawValue: 1001) }
    package static var protocolError: Self { Self(rawValue: 1002) }
    /// Never on the wire: the close frame had no code.
    package static var noStatusReceived: Self { Self(rawValue: 1005) }
    /// Never on the wire: the connection was lost without a close frame.
    package static var abnormalClosure: Self { Self(rawValue: 1006) }
    package static var invalidPayload: Self { Self(rawValue: 1007) }
    package static var policyViolation: Self { Self(rawValue: 1008) }
    package static var messageTooBig: Self { Self(rawValue: 1009) }
    package static var internalError: Self { Self(rawValue: 1011) }
    package static var tryAgainLater: Self { Self(rawValue: 1013) }

    /// Whether a close frame may carry it: codes of the registry that are not reserved, and those of libraries and
    /// applications (§7.4.2).
    package var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
