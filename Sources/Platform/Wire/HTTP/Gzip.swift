import CZlib

/// Compresses content that is sent in many responses (RFC 1952). It is made as small as zlib can, which may take long.
package enum Gzip {
    /// zlib's number for a gzip header (16) and the largest window (15).
    private static let windowBits: Int32 = 15 + 16
    private static let mostMemory: Int32 = 9

    /// Returns the compressed content. The same content always gives the same bytes, because they have no time stamp.
    /// Returns `nil` if memory is exhausted or the content is too large for zlib.
    package static func compress(_ content: [UInt8]) -> [UInt8]? {
        guard let count = UInt32(exactly: content.count) else { return nil }
        // zlib's state has a pointer to its stream, so the stream must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        defer { stream.deallocate() }
        stream.initialize(to: z_stream())
        guard czlib_deflate_init(stream, Z_BEST_COMPRESSION, windowBits, mostMemory) == Z_OK else { return nil }
        defer { deflateEnd(stream) }
        let bound = Int(deflateBound(stream, UInt(count)))
        var input = content
        let output = input.withUnsafeMutableBufferPointer { source in
            [UInt8](unsafeUninitializedCapacity: bound) { target, written in
                stream.pointee.next_in = source.baseAddress
                stream.pointee.avail_in = count
                stream.pointee.next_out = target.baseAddress
                stream.pointee.avail_out = UInt32(clamping: bound)
                // The output has the size of zlib's upper bound, so one call is enough.
                let isWhole = CZlib.deflate(stream, Z_FINISH) == Z_STREAM_END
                written = isWhole ? bound - Int(stream.pointee.avail_out) : 0
            }
        }
        return output.isEmpty ? nil : output
    }
}
