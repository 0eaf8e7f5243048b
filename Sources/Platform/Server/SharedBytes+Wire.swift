package import Sockets
import Wire

extension SharedBytes {
    /// Bytes that an encoder of `Wire` writes.
    package convenience init(copies: Int = 1, encoding encode: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        encode(&bytes)
        self.init(bytes, copies: copies)
    }
}
