package import Sockets
import Wire

/// An answer's content that is written bit by bit, as an event stream's is.
///
/// On the connection's loop. Each write leaves at the end of the turn as a chunk of its own (RFC 9112 §7.1), or as it is
/// to a peer of HTTP/1.0. A peer that doesn't take what was written is cut off at ``ServerLimits/sendQueueBytes``, or
/// when it has not taken all of it within ``ServerLimits/writeTimeout``.
package final class ResponseStream {
    /// Called when the kernel has taken all that was written.
    package var drained: (() -> Void)?
    /// Called once, when the stream is over for a reason of the peer's or the server's; not after ``finish()``.
    package var closed: (() -> Void)?

    /// What operators are told of it.
    package var facts: (() -> ConnectionFacts)?

    private weak var connection: HTTPConnection?
    package let reactor: Reactor
    package let loop: EventLoop

    init(_ connection: HTTPConnection, on reactor: Reactor, loop: EventLoop) {
        self.connection = connection
        self.reactor = reactor
        self.loop = loop
    }

    /// Writes `piece`; does nothing when the stream is over.
    package func write(_ piece: StreamChunk) {
        connection?.writeToStream(piece)
    }

    /// Ends the content.
    package func finish() {
        connection?.finishStream()
    }

    /// Whether the kernel has all that was written.
    package var isDrained: Bool {
        connection?.isDrained ?? true
    }
}

/// A piece of a stream's content, encoded once for any number of streams.
package struct StreamChunk: Sendable {
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
