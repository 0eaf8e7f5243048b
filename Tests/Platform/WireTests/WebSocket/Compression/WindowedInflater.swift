import CZlib

/// zlib as the other end, with no more memory than was agreed on: it gets room for one byte at a time, so that whatever it
/// refers to has to be in its window.
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

    func forget() {
        inflateReset(stream)
    }

    /// The message of `payload`; `nil` when zlib can't read it.
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
