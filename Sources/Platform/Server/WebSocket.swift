package import Basics
package import Sockets
package import Wire

/// A WebSocket at the server's end (RFC 6455). It passes messages to its handler and frames to its socket.
///
/// ```
/// open ─┬─ peer's close frame ─► answered ─────────────────────────► socket finished
///       ├─ close(code) ─► closing ─ peer's close frame, or timeout ─► socket finished or closed
///       ├─ protocol error ─► close frame with its code ────────────► socket finished
///       └─ socket closed, pong overdue, queue full ────────────────► closed
/// ```
///
/// The object is used on its loop. It answers pings. If a peer sends nothing for ``ServerLimits/pingInterval``, the
/// server sends a ping.
package final class WebSocket: StreamSocketHandler {
    private enum Phase: UInt8 {
        case open, closing, closed
    }

    // The order of the fields leaves no gaps, as in ``StreamSocket``. The object has 104 bytes.

    private let socket: StreamSocket
    private let server: ServerShard
    private var handler: (any WebSocketHandler)?
    private var parser: WebSocketParser
    /// `nil` if compression wasn't negotiated.
    private var compression: WebSocketDeflate?
    private var phase = Phase.open
    private var awaitsPong = false
    /// Whether ``ServerLimits/messageRate`` applies. A route for protocol tests that only echoes messages may switch it
    /// off.
    package var limitsMessageRate = true
    /// The close code, if the WebSocket ended before its handler was set.
    private var endCode: WebSocketCloseCode?
    /// The time that the peer's messages have paid for, see ``RateLimit``.
    private var paidUntil: UInt64 = 0

    init(
        _ socket: StreamSocket, server: ServerShard, compression: WebSocketDeflateParameters? = nil,
        maxMessageBytes: Int? = nil
    ) {
        self.socket = socket
        self.server = server
        self.compression = compression.map { WebSocketDeflate($0) }
        let limits = server.application.limits
        parser = WebSocketParser(
            role: .server, maxMessageBytes: maxMessageBytes ?? limits.maxMessageBytes,
            allowsCompressed: compression != nil)
        socket.sendLimit = UInt32(clamping: limits.sendQueueBytes)
        server.counters.openWebSockets += 1
        server.counters.openedWebSockets += 1
    }

    /// The WebSocket's loop.
    package var reactor: Reactor { socket.reactor }
    package var isOpen: Bool { phase == .open }

    /// The number of bytes that wait because the peer hasn't taken them.
    package var unsentBytes: Int { socket.unsentBytes }

    /// The identity under which the limits count what this peer asks for. `nil` if the peer has no limits.
    package var requester: Requester? { (socket.companion as? ConnectionPermit)?.requester }

    /// Charges the peer's address for an action, and returns whether it is admitted. Use this for messages that cost as
    /// much as a request, or that are stored.
    package func admits(_ action: LimitedAction, times count: Int = 1) -> Bool {
        (socket.companion as? ConnectionPermit)?.admits(action, times: count, at: reactor.now) ?? true
    }

    /// The network by which shares of a limited resource are counted, or `nil` if the peer has no limits.
    package var limitedNetwork: IPAddress? {
        (socket.companion as? ConnectionPermit)?.network
    }

    /// Whether to notify the handler when the kernel has taken all bytes.
    package var reportsDrain: Bool {
        get { socket.reportsDrain }
        set { socket.reportsDrain = newValue }
    }

    /// Begins after the handshake. `unread` contains the bytes that the peer sent after its handshake.
    func begin(_ handler: any WebSocketHandler, unread: [UInt8]) {
        if let endCode {
            // The WebSocket was closed before its handler was made.
            handler.webSocketDidClose(self, code: endCode)
        } else {
            self.handler = handler
            noteActivity()
            if server.isStopping { stop() }
        }
        if !unread.isEmpty {
            var unread = unread
            unread.withUnsafeMutableBytes(receive)
        }
        // The peer's FIN arrived before the response to the handshake. The socket doesn't report it again.
        if socket.peerEnded, socket.isOpen { socketReceivedEnd(socket) }
    }

    // MARK: Sending

    /// Sends an encoded frame, `times` times, for broadcasts. The socket sends it at the end of the turn.
    ///
    /// The frame isn't compressed, which is always permitted (RFC 7692 §6.1). Compressed frames couldn't be shared,
    /// because peers negotiate different parameters. Each receiver would therefore need its own compression.
    package func send(frame: SharedBytes, times: Int = 1) {
        guard phase == .open else { return }
        socket.enqueue(frame, times: times)
        server.counters.sentMessages += times
    }

    /// Sends a message in one frame. If compression was negotiated, a message of at least
    /// ``ServerLimits/minCompressedBytes`` is compressed.
    package func send(_ message: [UInt8], _ opcode: WebSocketOpcode) {
        guard phase == .open else { return }
        send(frame: message.withUnsafeBytes { compressedFrame($0, opcode) ?? Self.frame($0, opcode) })
    }

    private static func frame(_ message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) -> SharedBytes {
        SharedBytes { WebSocketFrameEncoder.encode(opcode, message, into: &$0) }
    }

    private func compressedFrame(_ message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) -> SharedBytes? {
        guard message.count >= server.application.limits.minCompressedBytes,
            let payload = compression?.deflate(message, with: server.deflatePool)
        else { return nil }
        server.counters.sentCompressedMessages += 1
        return SharedBytes { WebSocketFrameEncoder.encode(opcode, payload, isCompressed: true, into: &$0) }
    }

    /// Begins the closing handshake (RFC 6455 §7.1.2): sends a close frame, and waits up to
    /// ``ServerLimits/closeTimeout`` for the peer's close frame. The handler is notified before this method returns.
    package func close(_ code: WebSocketCloseCode, _ reason: String = "") {
        guard phase == .open else { return }
        phase = .closing
        sendClose(code, reason)
        socket.deadline = socket.reactor.now + server.application.limits.closeTimeout
        ended(code)
    }

    // MARK: Operators

    /// Information for operators.
    var facts: ConnectionFacts { handler?.facts ?? ConnectionFacts() }

    /// Ends the WebSocket because an operator wants it. The handler may send a last message.
    func endForOperator() {
        if phase == .open { handler?.operatorEnds(self) }
        close(.policyViolation, "an operator closed this connection")
    }

    // MARK: Receiving

    package func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        if phase == .open { noteActivity() }
        receive(bytes)
    }

    /// Restarts the wait for the next ping, because the peer has sent something.
    private func noteActivity() {
        awaitsPong = false
        socket.deadline = MonotonicTime(nanoseconds: socket.reactor.now.nanoseconds &+ server.pingInterval)
    }

    private func receive(_ bytes: UnsafeMutableRawBufferPointer) {
        var input = bytes
        do throws(WebSocketError) {
            while phase != .closed, let event = try parser.next(&input) {
                try receive(event)
            }
        } catch {
            // A protocol error ends the connection (RFC 6455 §7.1.7). The close frame has the code for the violated
            // rule.
            finish(error.code, error.reason)
        }
    }

    private func receive(_ event: WebSocketEvent) throws(WebSocketError) {
        switch event {
        case .message(let opcode, let isCompressed, let payload):
            guard pays(server.messageRate), phase == .open else { return }
            var message = UnsafeRawBufferPointer(payload)
            if isCompressed {
                message = try inflate(message, opcode)
                server.counters.receivedCompressedMessages += 1
            }
            server.counters.receivedMessages += 1
            handler?.webSocket(self, received: message, opcode)
        case .ping(let payload):
            guard pays(server.messageRate), phase == .open else { return }
            // A pong has the same application data as its ping (RFC 6455 §5.5.3).
            let payload = UnsafeRawBufferPointer(payload)
            socket.enqueue(SharedBytes { WebSocketFrameEncoder.encode(.pong, payload, into: &$0) })
        case .pong:
            // A peer may send pongs without a ping (RFC 6455 §5.5.3), but they count against the rate.
            _ = pays(server.messageRate)
        case .fragment:
            _ = pays(server.fragmentRate)
        case .close(let code, _):
            // The answer has the same status code as the peer's close frame (RFC 6455 §5.5.1).
            finish(code)
        }
    }

    /// Charges the peer for a frame. If the peer exceeds the rate, ends the connection and returns `false`. Every frame
    /// counts, even without a handler, because parsing it is work.
    private func pays(_ rate: RateLimit) -> Bool {
        guard limitsMessageRate else { return true }
        guard let paid = rate.paying(paidUntil, at: socket.reactor.now) else {
            tooFast()
            return false
        }
        paidUntil = paid
        return true
    }

    /// Closes the connection without a closing handshake. The handshake would give a peer that exceeds the rate several
    /// more seconds.
    private func tooFast() {
        server.counters.rateLimitedPeers += 1
        finish(.policyViolation, "more than \(server.application.limits.messageRate) messages per second")
    }

    /// Returns the decompressed message. The parser accepts the compression bit only if compression was negotiated.
    private func inflate(
        _ payload: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode
    ) throws(WebSocketError) -> UnsafeRawBufferPointer {
        try compression?.inflate(
            payload, opcode, maxMessageBytes: parser.maxMessageBytes, with: server.deflatePool)
            ?? payload
    }

    /// Ends the connection. Sends a close frame, unless one was sent. Nothing more is read. The handler is notified
    /// after sending has become impossible, so that no message follows the close frame.
    private func finish(_ code: WebSocketCloseCode?, _ reason: String = "") {
        let wasOpen = phase == .open
        phase = .closed
        if wasOpen {
            sendClose(code, reason)
            ended(code ?? .noStatusReceived)
        }
        socket.finish()
    }

    private func sendClose(_ code: WebSocketCloseCode?, _ reason: String) {
        socket.enqueue(SharedBytes { WebSocketFrameEncoder.close(code, reason: reason, into: &$0) })
    }

    private func ended(_ code: WebSocketCloseCode) {
        server.counters.openWebSockets -= 1
        server.counters.closed(code)
        endCode = code
        let handler = handler
        self.handler = nil
        handler?.webSocketDidClose(self, code: code)
    }

    // MARK: The socket

    package func socketDeadlinePassed(_ socket: StreamSocket) {
        guard phase == .open, !awaitsPong else {
            server.counters.timedOut(phase == .open ? .pong : .close)
            return socket.close()
        }
        awaitsPong = true
        socket.enqueue(server.pingFrame)
        socket.deadline = socket.reactor.now + server.application.limits.pongTimeout
    }

    package func socket(_ socket: StreamSocket, leftOut count: Int) {
        server.counters.leftOutMessages += count
    }

    package func socketReceivedEnd(_ socket: StreamSocket) {
        // The peer ended the TCP connection without a close frame, so the code is 1006: the connection was lost (RFC
        // 6455 §7.1.5).
        socket.close()
    }

    package func socketDidClose(_ socket: StreamSocket, because cause: StreamSocket.CloseCause) {
        if cause == .sendQueueFull { server.counters.slowPeers += 1 }
        let wasOpen = phase == .open
        phase = .closed
        if wasOpen { ended(.abnormalClosure) }
    }

    package func serverStops(_ socket: StreamSocket) {
        stop()
    }

    /// Ends the WebSocket because the server stops. The handler may send a last message.
    private func stop() {
        if phase == .open { handler?.serverStops(self) }
        close(.goingAway, "the server is stopping")
    }

    package func socketDidDrain(_ socket: StreamSocket) {
        handler?.webSocketDidDrain(self)
    }
}

/// An application's handler of one WebSocket. All calls come on the socket's loop.
package protocol WebSocketHandler: AnyObject {
    /// Handles a message, which is complete and unmasked. Text is valid UTF-8. The memory is valid only until the call
    /// returns.
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)

    /// Reports that the WebSocket has ended. Called exactly once. No other call follows, and messages sent after it are
    /// lost.
    ///
    /// - Parameter code: The close code of the peer or of this server; 1006 if the connection ended without one.
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode)

    /// Reports that the server stops. Messages sent during this call come before the close frame.
    func serverStops(_ webSocket: WebSocket)

    /// Reports that an operator ends the connection. Messages sent during this call come before the close frame. The
    /// handler may also close the WebSocket.
    func operatorEnds(_ webSocket: WebSocket)

    /// Information for operators.
    var facts: ConnectionFacts { get }

    /// Reports that the kernel has taken all bytes. Called only while ``WebSocket/reportsDrain`` is set.
    func webSocketDidDrain(_ webSocket: WebSocket)
}

extension WebSocketHandler {
    package func serverStops(_ webSocket: WebSocket) {}
    package func operatorEnds(_ webSocket: WebSocket) {}
    package var facts: ConnectionFacts { ConnectionFacts() }
    package func webSocketDidDrain(_ webSocket: WebSocket) {}
}
