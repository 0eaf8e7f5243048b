import CZlib

/// Decompresses the messages of one direction (RFC 7692 §7.2.2): zlib's raw inflate.
///
/// ```
/// payload ─┬─ blocks ─ BFINAL? ─► reset, the window kept ─ more blocks ─┐
///          └─ 00 00 FF FF, which the sender left off ◄──────────────────┘ ends an empty block: the message is whole
/// ```
final class Inflater {
    /// zlib's state refers back to its stream, which must therefore stay where it is.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: how far back messages may refer, 8 to 15. `nil` when the system has no memory left.
    init?(windowBits: UInt8) {
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        made.initialize(to: z_stream())
        guard czlib_inflate_init(made, -Int32(windowBits)) == Z_OK else {
            made.deallocate()
            return nil
        }
        // Not before: with every property set, a failing initialiser would run `deinit`.
        stream = made
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Forgets what came before, so that the next message stands alone.
    func forget() {
        inflateReset(stream)
    }

    /// Replaces `output` by what `payload` holds. The bomb's rule: the memory written to ends one byte behind `limit`, and
    /// when that byte is reached the message is too big, whatever would have followed. Not to be used further after an error,
    /// but for `forget`.
    func inflate(
        _ payload: UnsafeRawBufferPointer, atMost limit: Int, into output: inout ZlibOutput
    ) throws(WebSocketError) {
        output.clear()
        try inflate(piece: payload, atMost: limit, into: &output)
        try withUnsafeBytes(of: UInt32(0xFFFF_0000).littleEndian) { tail throws(WebSocketError) in
            try inflate(piece: tail, atMost: limit, into: &output)
        }
        // What was left off completes an empty block: zlib stands at a block's start (128), on a byte boundary.
        guard stream.pointee.data_type == 128 else { throw .truncatedDeflate }
    }

    private func inflate(
        piece: UnsafeRawBufferPointer, atMost limit: Int, into output: inout ZlibOutput
    ) throws(WebSocketError) {
        let bytes = piece.bindMemory(to: UInt8.self)
        // zlib reads only; its declaration says so only where ZLIB_CONST is defined.
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
                // Room that is left says that there is nothing more to write, nor to read.
                if stream.pointee.avail_out > 0 { return }
            case Z_STREAM_END:
                // A block that calls itself the last one. Others may follow, and may refer to it (§7.2.3.4).
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
