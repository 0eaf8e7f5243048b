import Basics
import Sockets
import Wire

/// Responses with streamed content.
extension HTTPConnection {
    /// The maximum number of bytes that are kept if the peer sends during a stream. They suffice for one or two
    /// pipelined requests.
    static var streamBacklogBytes: Int { 4 * 1024 }

    func stream(
        _ start: @Sendable (ResponseStream) -> Void, _ writer: consuming ResponseWriter, to head: HTTPRequestHead,
        keepsAlive: Bool
    ) {
        let isChunked = head.version == .http11
        if isChunked { writer.field("Transfer-Encoding", "chunked") }
        writer.finish()
        socket.enqueue(SharedBytes(writer.bytes))
        guard head.method != .head else { return answered(keepsAlive: keepsAlive) }
        let stream = ResponseStream(self, on: socket.reactor, loop: server.loop)
        state = .streaming(stream, isChunked: isChunked, keepsAlive: keepsAlive)
        server.counters.openStreams += 1
        socket.deadline = socket.reactor.now + limits.writeTimeout
        socket.sendLimit = UInt32(clamping: limits.sendQueueBytes)
        socket.reportsDrain = true
        start(stream)
        guard case .streaming = state else { return }
        if socket.peerEnded || backlog.count > Self.streamBacklogBytes { abandonStream() }
    }

    /// Ends a stream because its peer has gone, or has sent more bytes than are kept.
    func abandonStream() {
        endStream(isReported: true)
        socket.close()
    }

    var isDrained: Bool { socket.unsentBytes == 0 }

    func writeToStream(_ piece: StreamChunk) {
        guard case .streaming(_, let isChunked, _) = state else { return }
        if socket.unsentBytes == 0 { socket.deadline = socket.reactor.now + limits.writeTimeout }
        socket.enqueue(piece.bytes(chunked: isChunked))
    }

    func finishStream() {
        guard case .streaming(_, let isChunked, let keepsAlive) = state else { return }
        if isChunked { socket.enqueue(SharedBytes(encoding: HTTPResponseEncoder.lastChunk)) }
        endStream(isReported: false)
        answered(keepsAlive: keepsAlive && !server.isStopping)
        proceed()
    }

    func endStream(isReported: Bool) {
        guard case .streaming(let stream, _, _) = state else { return }
        state = .over
        server.counters.openStreams -= 1
        socket.sendLimit = .max
        socket.reportsDrain = false
        let closed = isReported ? stream.closed : nil
        stream.closed = nil
        stream.drained = nil
        closed?()
    }
}
