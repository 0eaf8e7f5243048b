/// What a frame is (RFC 6455 §5.2). All other values are reserved.
package enum WebSocketOpcode: UInt8, Sendable, Hashable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    case ping = 0x9
    case pong = 0xA

    /// Close, ping and pong: short, whole, and allowed between the fragments of a message (§5.5).
    package var isControl: Bool { rawValue & 0x8 != 0 }
}
