/// What a parser remembers when a frame or a message doesn't come in one piece. Made on demand and dropped when the message
/// has been taken, so that idle connections don't carry it.
final class MessageReassembly {
    /// Where in a message the reader stands; the table is ``WebSocketParser``'s.
    enum Position {
        /// Between the fragments of ``openMessage``.
        case atFrame
        /// In a frame's header, of which these bytes came; at most 14.
        case inHeader([UInt8])
        /// In a frame's payload, of which so many bytes came.
        case inPayload(WebSocketFrameHeader, received: Int)
        /// What was handed out last lies in here, so it has to live until the next call.
        case handedOut
    }

    var position = Position.atFrame
    /// The payload of a control frame, at most 125 bytes; they come between the fragments of a message.
    var control = GatheringBuffer()

    /// The message whose fragments are being gathered; `nil` when none is.
    var openMessage: (opcode: WebSocketOpcode, isCompressed: Bool)?
    var message = GatheringBuffer()
    var validator = UTF8Validator()

    /// A frame's payload is to be gathered.
    func begin(_ header: WebSocketFrameHeader) {
        position = .inPayload(header, received: 0)
        if header.opcode == .text || header.opcode == .binary {
            openMessage = (header.opcode, header.isCompressed)
        }
    }
}
