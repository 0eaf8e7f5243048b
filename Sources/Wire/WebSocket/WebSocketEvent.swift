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
