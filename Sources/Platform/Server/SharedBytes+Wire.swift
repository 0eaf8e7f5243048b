package import Sockets
import Wire

extension SharedBytes {
    /// Makes bytes with an encoder of `Wire`.
    package convenience init(copies: Int = 1, encoding encode: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        encode(&bytes)
        self.init(bytes, copies: copies)
    }
}
