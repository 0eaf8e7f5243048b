import CZlib

/// Inflates with zlib as the other end, with the negotiated window and no more memory. It outputs one byte at a time,
/// so every reference must be within the window.
final class WindowedInflater {
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)

    init?(windowBits: UInt8) {
        stream.initialize(to: z_stream())
        guard czlib_inflate_init(stream, -Int32(windowBits)) == Z_OK else { return nil }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    func resetWindow() {
        inflateReset(stream)
    }

    /// Returns the message of `payload`; `nil` if zlib can't read it.
    func message(_ payload: [UInt8]) -> [UInt8]? {
        var input = payload + [0x00, 0x00, 0xFF, 0xFF]
        var message: [UInt8] = []
        return input.withUnsafeMutableBufferPointer { input in
            stream.pointee.next_in = input.baseAddress
            stream.pointee.avail_in = UInt32(input.count)
            while true {
                var byte: UInt8 = 0
                let (result, isWritten) = withUnsafeMutablePointer(to: &byte) { place in
                    stream.pointee.next_out = place
                    stream.pointee.avail_out = 1
                    return (inflate(stream, Z_SYNC_FLUSH), stream.pointee.avail_out == 0)
                }
                guard result == Z_OK || result == Z_BUF_ERROR else { return nil }
                guard isWritten else { return stream.pointee.avail_in == 0 ? message : nil }
                message.append(byte)
            }
        }
    }
}
