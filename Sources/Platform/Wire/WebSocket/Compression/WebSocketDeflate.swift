/// permessage-deflate on one connection, at the server's end (RFC 7692 §7.2).
///
/// Holds zlib's memory only where a window is kept from message to message; else both directions borrow the pool's. One
/// connection, one of these: it can't be copied.
package struct WebSocketDeflate: ~Copyable {
    private final class Windows {
        var inflater: Inflater?
        var deflater: Deflater?
    }

    private let parameters: WebSocketDeflateParameters
    private var windows: Windows?

    package init(_ parameters: WebSocketDeflateParameters) {
        self.parameters = parameters
    }

    /// Bytes that a message of `count` bytes has at most when it is compressed: more than zlib's own bound for its least able
    /// settings. A longer one is padded with empty blocks, and is refused like a message that is too big.
    static func longestPayload(of count: Int) -> Int {
        let (sum, isTooLarge) = count.addingReportingOverflow(count / 8 + count / 64 + 64)
        return isTooLarge ? .max : sum
    }

    /// The message of a compressed `payload`; text is checked to be UTF-8. Valid until the pool is next used to inflate, or
    /// is no more.
    ///
    /// Throws 1009 as soon as more than `maxMessageBytes` would come out, which is not made; 1007 when the payload is not
    /// DEFLATE or not whole. That is the end of the connection.
    package mutating func inflate(
        _ payload: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode, maxMessageBytes: Int,
        with pool: WebSocketDeflatePool
    ) throws(WebSocketError) -> UnsafeRawBufferPointer {
        guard let inflater = inflater(pool) else { throw .outOfMemory }
        try inflater.inflate(payload, atMost: maxMessageBytes, into: &pool.inflated)
        let message = UnsafeRawBufferPointer(pool.inflated.bytes)
        guard opcode != .text || UTF8Validator.isValid(message) else { throw .textNotUTF8 }
        return message
    }

    /// The payload for a frame with the compression bit that bears `message`; `nil` when it is to be sent as it is, which any
    /// message may be (§6.1). Valid until the pool is next used to deflate, or is no more.
    ///
    /// What is returned has to be sent, and in this order: with context takeover later messages refer to it.
    package mutating func deflate(
        _ message: UnsafeRawBufferPointer, with pool: WebSocketDeflatePool
    ) -> UnsafeRawBufferPointer? {
        guard !message.isEmpty else { return nil }
        let bits = parameters.serverMaxWindowBits ?? 15
        guard !parameters.serverNoContextTakeover else {
            guard let deflater = pool.borrowDeflater(windowBits: bits) else { return nil }
            guard deflater.deflate(message, into: &pool.deflated) else {
                pool.dropDeflater(windowBits: bits)
                return nil
            }
            let payload = UnsafeRawBufferPointer(pool.deflated.bytes)
            return payload.count < message.count ? payload : nil
        }
        let windows = windowsOnDemand()
        if windows.deflater == nil { windows.deflater = Deflater(windowBits: bits, .thorough) }
        guard let deflater = windows.deflater else { return nil }
        guard deflater.deflate(message, into: &pool.deflated) else {
            // Nothing of it was sent: a new one, which refers to nothing, goes on.
            windows.deflater = nil
            return nil
        }
        // Even if it has not become shorter: the next message may refer to it.
        return UnsafeRawBufferPointer(pool.deflated.bytes)
    }

    private mutating func inflater(_ pool: WebSocketDeflatePool) -> Inflater? {
        guard !parameters.clientNoContextTakeover else { return pool.borrowInflater() }
        let windows = windowsOnDemand()
        if windows.inflater == nil { windows.inflater = Inflater(windowBits: parameters.clientMaxWindowBits ?? 15) }
        return windows.inflater
    }

    private mutating func windowsOnDemand() -> Windows {
        if let windows { return windows }
        let made = Windows()
        windows = made
        return made
    }
}
