/// The state of a parser while a frame or message arrives in several pieces. It is made when it is needed and dropped
/// after the message, so that idle connections don't use memory for it.
final class MessageReassembly {
    /// The parser's position in a message, see the table of ``WebSocketParser``.
    enum Position {
        /// The parser is between two fragments of ``openMessage``.
        case atFrame
        /// The parser is in a frame's header. These bytes of it have arrived, at most 14.
        case inHeader([UInt8])
        /// The parser is in a frame's payload. `received` bytes of it have arrived.
        case inPayload(WebSocketFrameHeader, received: Int)
        /// The last event refers to memory of this object, which must exist until the next call.
        case handedOut
    }

    var position = Position.atFrame
    /// The payload of a control frame, at most 125 bytes. It has its own buffer because control frames may come between
    /// the fragments of a message.
    var control = GatheringBuffer()

    /// The message whose fragments are being gathered, or `nil` if there is none.
    var openMessage: (opcode: WebSocketOpcode, isCompressed: Bool)?
    var message = GatheringBuffer()
    var validator = UTF8Validator()

    /// Begins to gather a frame's payload.
    func begin(_ header: WebSocketFrameHeader) {
        position = .inPayload(header, received: 0)
        if header.opcode == .text || header.opcode == .binary {
            openMessage = (header.opcode, header.isCompressed)
        }
    }
}
