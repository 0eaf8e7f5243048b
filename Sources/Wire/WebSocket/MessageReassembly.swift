/// What a parser remembers when a frame or a message doesn't come in one piece. Made on demand and dropped when the message
/// has been taken, so that idle connections don't carry it.
final class MessageReassembly {
    /// A header that isn't whole yet; at most 14 bytes.
    var header: [UInt8] = []
    /// The frame that is being read, and how much of its payload has come.
    var frame: WebSocketFrameHeader?
    var frameBytes = 0
    /// The payload of a control frame, at most 125 bytes; they come between the fragments of a message.
    var control = GatheringBuffer()

    /// The message whose fragments are being gathered; `nil` when none is.
    var opcode: WebSocketOpcode?
    var isCompressed = false
    var message = GatheringBuffer()
    var validator = UTF8Validator()

    /// What was handed out last lies in here, so it has to live until the next call.
    var hasBeenTaken = false
}
