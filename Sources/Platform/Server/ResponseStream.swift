package import Basics
package import Sockets
import Wire

/// The streamed content of a response, such as an event stream.
///
/// The object is used on the connection's loop. At the end of the turn, each write is sent as a chunk (RFC 9112 §7.1),
/// or without framing for HTTP/1.0. A peer that reads too slowly is disconnected at ``ServerLimits/sendQueueBytes``
/// unsent bytes. It is also disconnected if it doesn't take all bytes within ``ServerLimits/writeTimeout``.
package final class ResponseStream {
    /// Called when the kernel has taken all bytes.
    package var drained: (() -> Void)?
    /// Called once, when the peer or the server ends the stream, but not after ``finish()``.
    package var closed: (() -> Void)?

    /// Returns information for operators.
    package var facts: (() -> ConnectionFacts)?

    private weak var connection: HTTPConnection?
    package let reactor: Reactor
    package let loop: EventLoop

    init(_ connection: HTTPConnection, on reactor: Reactor, loop: EventLoop) {
        self.connection = connection
        self.reactor = reactor
        self.loop = loop
    }

    /// The identity under which the limits count what this peer asks for. See ``WebSocket/requester``.
    package var requester: Requester? { connection?.peer.permit?.requester }

    /// Writes `piece`. Does nothing after the end of the stream.
    package func write(_ piece: StreamChunk) {
        connection?.writeToStream(piece)
    }

    /// Ends the content.
    package func finish() {
        connection?.finishStream()
    }

    /// Whether the kernel has taken all bytes.
    package var isDrained: Bool {
        connection?.isDrained ?? true
    }
}

/// A piece of a stream's content, encoded once for any number of streams.
package struct StreamChunk: Sendable {
    private let content: [UInt8]
    /// The content as a chunk (RFC 9112 §7.1), for HTTP/1.1.
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
