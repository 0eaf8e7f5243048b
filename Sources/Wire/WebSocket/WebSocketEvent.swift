/// What a `WebSocketParser` found. Payloads are unmasked, may be changed in place, and are valid until the next call.
package enum WebSocketEvent {
    /// A whole message, text or binary. Text is UTF-8, checked, unless it is compressed: then that is left to whoever
    /// inflates it.
    case message(opcode: WebSocketOpcode, isCompressed: Bool, UnsafeMutableRawBufferPointer)
    /// To be answered with a pong of the same payload (RFC 6455 §5.5.2).
    case ping(UnsafeMutableRawBufferPointer)
    case pong(UnsafeMutableRawBufferPointer)
    /// The peer closes; the code is one that may be sent, `nil` when there was none. Nothing is read after it.
    case close(code: WebSocketCloseCode?, reason: String)
}
