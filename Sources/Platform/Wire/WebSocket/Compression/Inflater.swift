import CZlib

/// Decompresses the messages of one direction with zlib's raw inflate (RFC 7692 §7.2.2).
///
/// ```
/// payload ─┬─ blocks ─ BFINAL? ─► reset, keeping the window ─ more blocks ─┐
///          └─ 00 00 FF FF, which the sender left off ◄─────────────────────┘ ends an empty block: message complete
/// ```
final class Inflater {
    /// zlib's state has a pointer to its stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: The size of the window, 8 to 15. The result is `nil` if memory is exhausted.
    init?(windowBits: UInt8) {
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        made.initialize(to: z_stream())
        guard czlib_inflate_init(made, -Int32(windowBits)) == Z_OK else {
            made.deallocate()
            return nil
        }
        // This property is set last. If all properties were set, a failing initialiser would run `deinit`.
        stream = made
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Clears the window, so that the next message doesn't depend on earlier ones.
    func reset() {
        inflateReset(stream)
    }

    /// Replaces `output` with the content of `payload`. The output buffer has one byte more than `limit`. If that byte
    /// is written, the message is too big. After an error, only `reset` may be called.
    func inflate(
        _ payload: UnsafeRawBufferPointer, atMost limit: Int, into output: inout ZlibOutput
    ) throws(WebSocketError) {
        output.clear()
        try inflate(piece: payload, atMost: limit, into: &output)
        try withUnsafeBytes(of: UInt32(0xFFFF_0000).littleEndian) { tail throws(WebSocketError) in
            try inflate(piece: tail, atMost: limit, into: &output)
        }
        // The bytes that the sender removed complete an empty block. zlib must therefore be at the start of a block
        // (128) and at a byte boundary.
        guard stream.pointee.data_type == 128 else { throw .truncatedDeflate }
    }

    private func inflate(
        piece: UnsafeRawBufferPointer, atMost limit: Int, into output: inout ZlibOutput
    ) throws(WebSocketError) {
        let bytes = piece.bindMemory(to: UInt8.self)
        // zlib only reads the input, but its declaration is `const` only with ZLIB_CONST.
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        guard Int(stream.pointee.avail_in) == bytes.count else { throw .messageTooBig(limit: limit) }
        while true {
            guard output.offer(to: stream, upTo: limit < .max ? limit + 1 : limit) else { throw .outOfMemory }
            let result = CZlib.inflate(stream, Z_SYNC_FLUSH)
            output.take(from: stream)
            guard output.count <= limit else { throw .messageTooBig(limit: limit) }
            switch result {
            case Z_OK, Z_BUF_ERROR:
                // If the output has free space, zlib has nothing more to write or read.
                if stream.pointee.avail_out > 0 { return }
            case Z_STREAM_END:
                // The block was marked as the last one. Further blocks may follow and refer to it (§7.2.3.4).
                guard inflateResetKeep(stream) == Z_OK else { throw .corruptDeflate }
                if stream.pointee.avail_in == 0 { return }
            case Z_MEM_ERROR:
                throw .outOfMemory
            default:
                throw .corruptDeflate
            }
        }
    }
}
