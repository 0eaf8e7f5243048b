/// Why a connection is closed (RFC 6455 §7.4, and the registry it founded).
package struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable {
    package let rawValue: UInt16

    package init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    package static var normalClosure: Self { Self(rawValue: 1000) }
    package static var goingAway: Self { Self(rawValue: 1001) }
    package static var protocolError: Self { Self(rawValue: 1002) }
    package static var unsupportedData: Self { Self(rawValue: 1003) }
    /// Never on the wire: the close frame had no code.
    package static var noStatusReceived: Self { Self(rawValue: 1005) }
    /// Never on the wire: the connection was lost without a close frame.
    package static var abnormalClosure: Self { Self(rawValue: 1006) }
    package static var invalidPayload: Self { Self(rawValue: 1007) }
    package static var policyViolation: Self { Self(rawValue: 1008) }
    package static var messageTooBig: Self { Self(rawValue: 1009) }
    package static var missingExtension: Self { Self(rawValue: 1010) }
    package static var internalError: Self { Self(rawValue: 1011) }
    package static var serviceRestart: Self { Self(rawValue: 1012) }
    package static var tryAgainLater: Self { Self(rawValue: 1013) }
    package static var badGateway: Self { Self(rawValue: 1014) }
    /// Never on the wire: the TLS handshake failed.
    package static var tlsHandshake: Self { Self(rawValue: 1015) }

    /// Whether a close frame may carry it: codes of the registry that are not reserved, and those of libraries and
    /// applications (§7.4.2).
    package var isSendable: Bool {
        switch rawValue {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
