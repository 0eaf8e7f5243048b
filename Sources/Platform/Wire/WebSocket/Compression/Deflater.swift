import CZlib

/// Compresses the messages of one direction with zlib's raw deflate (RFC 7692 §7.2.1).
final class Deflater {
    /// The settings of zlib. A window takes 4 bytes of memory for each of its bytes. Each memory level doubles the size
    /// of the tables.
    enum Effort {
        /// For a series of messages: compresses messages well that resemble earlier ones.
        case thorough
        /// For single messages: uses small tables, which are cleared before each message.
        case brief
    }

    /// zlib's state has a pointer to its stream, so the stream must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter windowBits: The size of the window, 8 to 15. The result is `nil` if memory is exhausted.
    init?(windowBits: UInt8, _ effort: Effort) {
        // zlib refuses 8 for raw data. With 9 it refers back at most 250 bytes (its window minus MIN_LOOKAHEAD, which
        // is 262). An 8-bit window has space for these bytes.
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
        // This property is set last. If all properties were set, a failing initialiser would run `deinit`.
        stream = made
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// Clears the window, so that the next message doesn't depend on earlier ones.
    func reset() {
        deflateReset(stream)
    }

    /// Replaces `output` with the payload for `message`, which must not be empty. Returns `false` if memory is
    /// exhausted or the message is too large for zlib. Don't use the deflater after it has returned `false`.
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
            // If the buffer is full, the flush may be incomplete. The next call then continues it.
        } while stream.pointee.avail_out == 0
        // The flush ends with the length of an empty block, 00 00 FF FF. These bytes are removed.
        output.dropLast(4)
        return true
    }
}
