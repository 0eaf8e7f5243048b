package import Basics
package import Sockets
package import Wire

/// A WebSocket at the server's end (RFC 6455): messages to its handler, frames to its socket.
///
/// ```
/// open ─┬─ peer's close frame ─► answered ─────────────────────────► socket finished
///       ├─ close(code) ─► closing ─ peer's close frame, or timeout ─► socket finished or closed
///       ├─ protocol error ─► close frame with its code ────────────► socket finished
///       └─ socket closed, pong overdue, queue full ────────────────► closed
/// ```
///
/// On its loop. It answers pings, and pings a peer after a silence of ``ServerLimits/pingInterval``.
package final class WebSocket: StreamSocketHandler {
    private enum Phase: UInt8 {
        case open, closing, closed
    }

    // As in ``StreamSocket``, the order leaves no gaps: 104 bytes.

    private let socket: StreamSocket
    private let server: ServerShard
    private var handler: (any WebSocketHandler)?
    private var parser: WebSocketParser
    /// `nil` if compression wasn't negotiated.
    private var compression: WebSocketDeflate?
    private var phase = Phase.open
    private var awaitsPong = false
    /// Whether ``ServerLimits/messageRate`` applies. A route that only echoes, for protocol tests, may switch it off.
    package var limitsMessageRate = true
    /// The close code, for a handler that is set after the end.
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

    /// The number of bytes that the peer hasn't taken.
    package var unsentBytes: Int { socket.unsentBytes }

    /// The peer, for tasks that work for it. `nil` if the peer isn't limited.
    package var requester: Requester? { (socket.companion as? ConnectionPermit)?.requester }

    /// Charges the peer's address for an action, for messages that cost as much as a request, or are stored. Returns
    /// whether it is admitted.
    package func admits(_ action: LimitedAction, times count: Int = 1) -> Bool {
        (socket.companion as? ConnectionPermit)?.admits(action, times: count, at: reactor.now) ?? true
    }

    /// The network that shares of what is limited are counted by; `nil` if limits don't count the peer.
    package var limitedNetwork: IPAddress? {
        (socket.companion as? ConnectionPermit)?.network
    }

    /// Whether the handler is notified when the kernel has taken everything.
    package var reportsDrain: Bool {
        get { socket.reportsDrain }
        set { socket.reportsDrain = newValue }
    }

    /// Begins after the handshake. `unread` is what the peer sent after it.
    func begin(_ handler: any WebSocketHandler, unread: [UInt8]) {
        if let endCode {
            // It was closed before its handler was made.
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
        // The FIN came before the response to the handshake, and isn't reported again.
        if socket.peerEnded, socket.isOpen { socketReceivedEnd(socket) }
    }

    // MARK: Sending

    /// Sends an encoded frame, repeated `times` times, for broadcasts. It leaves at the end of the turn.
    ///
    /// The frame isn't compressed, which is always permitted (RFC 7692 §6.1). Compressed frames couldn't be shared,
    /// because peers negotiate different parameters, and each receiver would cost a compression.
    package func send(frame: SharedBytes, times: Int = 1) {
        guard phase == .open else { return }
        socket.enqueue(frame, times: times)
        server.counters.sentMessages += times
    }

    /// Sends a message in one frame. It is compressed if that was negotiated, from ``ServerLimits/minCompressedBytes``
    /// on.
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

    /// Begins the closing handshake (RFC 6455 §7.1.2): sends a close frame, and waits for the peer's within
    /// ``ServerLimits/closeTimeout``. The handler is notified at once.
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

    /// Ends the WebSocket for an operator. The handler may send a last message.
    func endForOperator() {
        if phase == .open { handler?.operatorEnds(self) }
        close(.policyViolation, "an operator closed this connection")
    }

    // MARK: Receiving

    package func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        if phase == .open { noteActivity() }
        receive(bytes)
    }

    /// Restarts the interval of silence, because the peer is active.
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
            // Fails the connection (RFC 6455 §7.1.7). The close frame names the rule.
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
            // A pong contains the ping's application data (RFC 6455 §5.5.3).
            let payload = UnsafeRawBufferPointer(payload)
            socket.enqueue(SharedBytes { WebSocketFrameEncoder.encode(.pong, payload, into: &$0) })
        case .pong:
            // Unsolicited pongs are permitted (RFC 6455 §5.5.3), but count against the rate.
            _ = pays(server.messageRate)
        case .fragment:
            _ = pays(server.fragmentRate)
        case .close(let code, _):
            // The answer echoes the status code (RFC 6455 §5.5.1).
            finish(code)
        }
    }

    /// Charges the peer for a frame. Returns `false` if it exceeds the rate; the frame was then the last one. Every
    /// frame counts, even without a handler, because parsing it is work.
    private func pays(_ rate: RateLimit) -> Bool {
        guard limitsMessageRate else { return true }
        guard let paid = rate.paying(paidUntil, at: socket.reactor.now) else {
            tooFast()
            return false
        }
        paidUntil = paid
        return true
    }

    /// Closes without a closing handshake, which would give a peer that exceeds the rate several more seconds.
    private func tooFast() {
        server.counters.rateLimitedPeers += 1
        finish(.policyViolation, "more than \(server.application.limits.messageRate) messages per second")
    }

    /// Returns the message of a compressed payload. The parser permits the compression bit only if it was negotiated.
    private func inflate(
        _ payload: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode
    ) throws(WebSocketError) -> UnsafeRawBufferPointer {
        try compression?.inflate(
            payload, opcode, maxMessageBytes: parser.maxMessageBytes, with: server.deflatePool)
            ?? payload
    }

    /// Ends the connection, with a close frame unless one was sent. Nothing more is read. The handler is notified when
    /// nothing can be sent any more, so that nothing follows the close frame.
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
        // TCP ended without a close frame: the connection is lost (RFC 6455 §7.1.5: 1006).
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

    /// The handler may send a last message.
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
    /// Handles a message, complete and unmasked. Text is valid UTF-8. The memory is valid until the call returns.
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)

    /// Reports that the WebSocket has ended. No call follows, and sent messages are lost. Called exactly once.
    ///
    /// - Parameter code: The peer's close code or ours; 1006 if the connection ended without one.
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode)

    /// The server stops. Messages sent now come before the close frame.
    func serverStops(_ webSocket: WebSocket)

    /// An operator ends the connection. Messages sent now come before the close frame. The handler may also close it
    /// itself.
    func operatorEnds(_ webSocket: WebSocket)

    /// Information for operators.
    var facts: ConnectionFacts { get }

    /// Reports that the kernel has taken everything. Called only while ``WebSocket/reportsDrain`` is set.
    func webSocketDidDrain(_ webSocket: WebSocket)
}

extension WebSocketHandler {
    package func serverStops(_ webSocket: WebSocket) {}
    package func operatorEnds(_ webSocket: WebSocket) {}
    package var facts: ConnectionFacts { ConnectionFacts() }
    package func webSocketDidDrain(_ webSocket: WebSocket) {}
}
