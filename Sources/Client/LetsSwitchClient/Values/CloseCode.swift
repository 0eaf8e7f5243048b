/// A close code of a WebSocket (RFC 6455 §7.4).
///
/// ```swift
/// if case .closed(.goingAway) = event { print("the server is restarting") }
/// ```
public struct CloseCode: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The number in the close frame.
    ///
    /// ```swift
    /// CloseCode.goingAway.rawValue  // 1001
    /// ```
    public let rawValue: UInt16

    /// Creates a code with this number.
    ///
    /// ```swift
    /// let own = CloseCode(rawValue: 4000)
    /// ```
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// 1000: a normal end. `if code == .normal { … }`
    public static var normal: CloseCode { CloseCode(rawValue: 1000) }
    /// 1001: the server or this program stops. `await socket.cancel(with: .goingAway)`
    public static var goingAway: CloseCode { CloseCode(rawValue: 1001) }
    /// 1002: one end broke the protocol. `if code == .protocolError { … }`
    public static var protocolError: CloseCode { CloseCode(rawValue: 1002) }
    /// 1005: the close frame had no code. This code is never sent. `if code == .none { … }`
    public static var none: CloseCode { CloseCode(rawValue: 1005) }
    /// 1006: the connection was lost without a close frame. This code is never sent. `if code == .lost { … }`
    public static var lost: CloseCode { CloseCode(rawValue: 1006) }
    /// 1008: this client broke a rule of the server, for example by not reading. `if code == .policyViolation { … }`
    public static var policyViolation: CloseCode { CloseCode(rawValue: 1008) }
    /// 1009: a message was too long. `if code == .messageTooBig { … }`
    public static var messageTooBig: CloseCode { CloseCode(rawValue: 1009) }
    /// 1011: the server failed. `if code == .internalError { … }`
    public static var internalError: CloseCode { CloseCode(rawValue: 1011) }

    /// The number. `"\(CloseCode.normal)"` is `1000`.
    public var description: String { String(rawValue) }
}

/// The type of a WebSocket message.
///
/// ```swift
/// try await socket.send(message, as: .text)
/// ```
public enum Opcode: Sendable, Hashable {
    /// UTF-8: `try await socket.send(message, as: .text)`
    case text
    /// Any bytes: `try await socket.send(message, as: .binary)`
    case binary
}
