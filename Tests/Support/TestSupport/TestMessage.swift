/// A complete message, assembled from its fragments.
package enum TestMessage: Sendable, Equatable {
    case text(String)
    case binary([UInt8])

    /// Parses the message as JSON, in text and binary frames.
    package func json() throws -> TestJSON {
        switch self {
        case .text(let text): try TestJSON(parsing: Array(text.utf8))
        case .binary(let bytes): try TestJSON(parsing: bytes)
        }
    }
}

/// The server's close of a WebSocket: the close frame's code (`nil` if the frame was empty) and reason.
package struct TestClose: Error, Sendable, Equatable {
    package let code: UInt16?
    package let reason: String

    package init(code: UInt16?, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// A server's answer to an upgrade that it refused.
package struct UpgradeRefused: Error, Sendable, Equatable {
    package let response: TestResponse
}
