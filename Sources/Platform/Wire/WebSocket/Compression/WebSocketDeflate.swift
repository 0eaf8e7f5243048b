/// permessage-deflate on one connection, at the server's end (RFC 7692 §7.2).
///
/// The value holds memory of zlib only if a window is kept between messages. Otherwise both directions use the pool's
/// memory. Each connection has one value, which can't be copied.
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

    /// Returns the maximum size of a compressed message of `count` bytes. It is more than zlib's bound for its weakest
    /// settings. A longer payload must have been padded with empty blocks, and is refused as too big.
    static func longestPayload(of count: Int) -> Int {
        let (sum, isTooLarge) = count.addingReportingOverflow(count / 8 + count / 64 + 64)
        return isTooLarge ? .max : sum
    }

    /// Returns the message of a compressed `payload`. If it is text, it is checked to be UTF-8. The result is valid
    /// until the pool is used to inflate again, or is freed.
    ///
    /// Throws 1009 before more than `maxMessageBytes` are produced, and 1007 if the payload isn't valid and complete
    /// DEFLATE data. The connection must be closed after an error.
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

    /// Returns the payload for a frame with the compression bit. Returns `nil` if the message must be sent without
    /// compression, which is always permitted (§6.1). The result is valid until the pool is used to deflate again, or
    /// is freed.
    ///
    /// The results must be sent in the order of the calls: with context takeover, later messages refer to earlier ones.
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
            // No part of the message was sent. The next message gets a new deflater, which refers to no earlier
            // message.
            windows.deflater = nil
            return nil
        }
        // The payload is sent even if it isn't shorter than the message, because the next message may refer to it.
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
