import CZlib

/// Compresses the messages of one direction (RFC 7692 §7.2.1): zlib's raw deflate.
final class Deflater {
    /// How zlib is set: what is kept for a window costs 4 bytes for each of its bytes, a level of memory doubles the tables.
    enum Effort {
        /// For messages that resemble those before.
        case thorough
        /// For single messages: small tables, which are cleared before each.
        case brief
    }

    /// zlib's state refers back to its stream, which must therefore stay where it is.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: how far back messages may refer, 8 to 15. `nil` when the system has no memory left.
    init?(windowBits: UInt8, _ effort: Effort) {
        // zlib refuses 8 for raw data. With 9 it never refers further back than 250 bytes (its window less MIN_LOOKAHEAD,
        // 262), which an 8-bit window holds.
        let bits = max(9, windowBits)
        let made = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        made.initialize(to: z_stream())
        let result =
            switch effort {
            case .thorough: czlib_deflate_init(made, Z_DEFAULT_COMPRESSION, -Int32(bits), 8)
            case .brief: czlib_deflate_init(made, Z_DEFAULT_COMPRESSION, -Int32(min(bits, 13)), 5)
            }
        guard result == Z_OK else {
            made.deallocate()
            return nil
        }
        // Not before: with every property set, a failing initialiser would run `deinit`.
        stream = made
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Forgets what was sent before, so that the next message stands alone.
    func forget() {
        deflateReset(stream)
    }

    /// Replaces `output` by the payload for `message`, which is not empty. `false` when the system has no memory left, or
    /// the message is too large for zlib: the deflater is then not to be used further.
    func deflate(_ message: UnsafeRawBufferPointer, into output: inout ZlibOutput) -> Bool {
        output.clear()
        let bytes = message.bindMemory(to: UInt8.self)
        guard let count = UInt32(exactly: bytes.count) else { return false }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
        stream.pointee.avail_in = count
        repeat {
            guard output.offer(to: stream, upTo: .max), CZlib.deflate(stream, Z_SYNC_FLUSH) == Z_OK else {
                return false
            }
            output.take(from: stream)
            // Full memory leaves open whether all was flushed; zlib then goes on where it was.
        } while stream.pointee.avail_out == 0
        // What the flush ended with: the length of an empty block, 00 00 FF FF.
        output.dropLast(4)
        return true
    }
}
