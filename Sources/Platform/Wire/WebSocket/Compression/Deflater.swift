import CZlib

/// Compresses the messages of one direction (RFC 7692 §7.2.1): zlib's raw deflate.
final class Deflater {
    /// zlib's settings. A window takes 4 bytes per byte, and each memory level doubles the tables.
    enum Effort {
        /// Compresses well messages that resemble earlier ones.
        case thorough
        /// For single messages: small tables, cleared before each message.
        case brief
    }

    /// zlib's state refers to its stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: The size of the window, 8 to 15. `nil` if memory is exhausted.
    init?(windowBits: UInt8, _ effort: Effort) {
        // zlib refuses 8 for raw data. With 9 it never refers back more than 250 bytes (its window minus MIN_LOOKAHEAD,
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
        // Set last: with all properties set, a failing initialiser would run `deinit`.
        stream = made
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Resets the window, so that the next message is independent.
    func reset() {
        deflateReset(stream)
    }

    /// Replaces `output` with the payload of `message`, which must not be empty. Returns `false` if memory is exhausted
    /// or the message is too large for zlib. Don't use the deflater after that.
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
            // With a full buffer, the flush may be incomplete. The next call continues it.
        } while stream.pointee.avail_out == 0
        // Removes the end of the flush, the length of an empty block: 00 00 FF FF.
        output.dropLast(4)
        return true
    }
}
