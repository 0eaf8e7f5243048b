import Sockets
import Wire

/// A piece of a stream's content, encoded once for any number of streams.
package struct StreamPiece: Sendable {
    private let content: [UInt8]
    /// The content as a chunk (RFC 9112 §7.1): what nearly all peers get.
    private let chunk: SharedBytes

    package init(encoding encode: (inout [UInt8]) -> Void) {
        var bytes: [UInt8] = []
        encode(&bytes)
        content = bytes
        chunk = SharedBytes { HTTPResponseEncoder.chunk(bytes, into: &$0) }
    }

    func bytes(chunked: Bool) -> SharedBytes {
        chunked ? chunk : SharedBytes(content)
    }
}
