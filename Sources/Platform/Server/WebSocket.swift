import Basics
package import Sockets
package import Wire

/// A WebSocket, server side (RFC 6455): messages to its handler, frames to its socket.
///
/// ```
/// open ─┬─ peer's close frame ─► answered ──────────────────────► socket finished
///       ├─ close(code) ─► closing ─ peer's close frame, or time ─► socket finished or closed
///       ├─ protocol error ─► close frame with its code ──────────► socket finished
///       └─ socket gone, pong overdue, queue full ────────────────► closed
/// ```
///
/// On its loop. Pings are answered here; a peer that was silent for ``ServerLimits/pingInterval`` is pinged.
package final class WebSocket: StreamSocketHandler {
    private enum Phase: UInt8 {
        case open, closing, closed
    }

    // As in ``StreamSocket``, the order leaves no gaps: these are 104 bytes.

    private let socket: StreamSocket
    private let server: ServerShard
    private var handler: (any WebSocketHandler)?
    private var parser: WebSocketParser
    /// `nil` when no compression was agreed on.
    private var compression: WebSocketDeflate?
    private var phase = Phase.open
    private var awaitsPong = false
    /// Whether the peer is held to ``ServerLimits/messageRate``. A route may let it go: one that only answers, for
    /// protocol suites, is no burden to others.
    package var limitsMessageRate = true
    /// How it ended, for a handler that comes too late to be told then.
    private var endCode: WebSocketCloseCode?
    /// What the peer's messages have paid for, see ``RateLimit``.
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

    /// The loop that the WebSocket lives on.
    package var reactor: Reactor { socket.reactor }
    package var isOpen: Bool { phase == .open }

    /// Bytes that wait for the peer to take them.
    package var unsentBytes: Int { socket.unsentBytes }

    /// Whether the peer's address may do this `count` times more: for messages that cost what a request does, or are kept.
    package func admits(_ action: LimitedAction, times count: Int = 1) -> Bool {
        (socket.companion as? ConnectionPermit)?.admits(action, times: count, at: reactor.now) ?? true
    }

    /// Whether the handler is told when the kernel has taken all that was sent.
    package var reportsDrain: Bool {
        get { socket.reportsDrain }
        set { socket.reportsDrain = newValue }
    }

    /// Goes on from the handshake: `unread` is what the peer sent behind it.
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
        // The FIN came before the handshake was answered, and is not reported again.
        if socket.peerEnded, socket.isOpen { socketReceivedEnd(socket) }
    }

    // MARK: Sending

    /// Sends a frame that was encoded before, `times` over: the way of a broadcast. It leaves at the end of the turn.
    ///
    /// It goes as it is, which any message may (RFC 7692 §6.1): compressed it would no longer be one frame for all, since
    /// peers agreed on different things, and the time for a deflation would be spent once per receiver.
    package func send(frame: SharedBytes, times: Int = 1) {
        guard phase == .open else { return }
        socket.enqueue(frame, times: times)
        server.counters.sentMessages += times
    }

    /// Sends a message in one frame; compressed, if that was agreed on, from ``ServerLimits/minCompressedBytes`` on.
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

    /// Begins the closing handshake (RFC 6455 §7.1.2): our close frame, then the peer's within
    /// ``ServerLimits/closeTimeout``. The handler hears of the end at once.
    package func close(_ code: WebSocketCloseCode, _ reason: String = "") {
        guard phase == .open else { return }
        phase = .closing
        sendClose(code, reason)
        socket.deadline = socket.reactor.now + server.application.limits.closeTimeout
        ended(code)
    }

    // MARK: Operators

    /// What operators are told of it.
    var facts: ConnectionFacts { handler?.facts ?? ConnectionFacts() }

    /// An operator ends it. The handler may have a last word.
    func endForOperator() {
        if phase == .open { handler?.operatorEnds(self) }
        close(.policyViolation, "an operator has ended it")
    }

    // MARK: Receiving

    package func socket(_ socket: StreamSocket, received bytes: UnsafeMutableRawBufferPointer) {
        if phase == .open { noteActivity() }
        receive(bytes)
    }

    /// The peer lives: the silence after which it is pinged begins anew.
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
            // Fails the connection (RFC 6455 §7.1.7): the close frame names the rule.
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
            // A pong bears the ping's application data (RFC 6455 §5.5.3).
            let payload = UnsafeRawBufferPointer(payload)
            socket.enqueue(SharedBytes { WebSocketFrameEncoder.encode(.pong, payload, into: &$0) })
        case .pong:
            // Also one that nobody asked for (RFC 6455 §5.5.3); but not any number of them.
            _ = pays(server.messageRate)
        case .fragment:
            _ = pays(server.fragmentRate)
        case .close(let code, _):
            // The answer echoes the status code (RFC 6455 §5.5.1).
            finish(code)
        }
    }

    /// Whether the peer may have one more frame read; else that was the last one. Every frame pays, what it is and whether
    /// somebody still listens notwithstanding: reading it is work.
    private func pays(_ rate: RateLimit) -> Bool {
        guard limitsMessageRate else { return true }
        guard let paid = rate.paying(paidUntil, at: socket.reactor.now) else {
            tooFast()
            return false
        }
        paidUntil = paid
        return true
    }

    /// Nothing more is read: a peer that minds no rate minds no closing handshake, for which it would have seconds more.
    private func tooFast() {
        server.counters.rateLimitedPeers += 1
        finish(.policyViolation, "more than \(server.application.limits.messageRate) messages a second")
    }

    /// The message of a compressed payload. The parser lets the compression bit pass only where it was agreed on.
    private func inflate(
        _ payload: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode
    ) throws(WebSocketError) -> UnsafeRawBufferPointer {
        try compression?.inflate(
            payload, opcode, maxMessageBytes: parser.maxMessageBytes, with: server.deflatePool)
            ?? payload
    }

    /// Ends the connection, with a close frame unless ours is out: nothing more is read. The handler is told when nothing can be sent any
    /// more, so that none of it comes behind that frame.
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
        // TCP without a close frame: the connection is lost (RFC 6455 §7.1.5: 1006).
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

    /// The handler may have a last word.
    private func stop() {
        if phase == .open { handler?.serverStops(self) }
        close(.goingAway, "the server stops")
    }

    package func socketDidDrain(_ socket: StreamSocket) {
        handler?.webSocketDidDrain(self)
    }
}

/// What an application does with one WebSocket. All calls come on the socket's loop.
package protocol WebSocketHandler: AnyObject {
    /// A message came, whole and unmasked, text checked to be UTF-8. The memory is valid until the call returns.
    func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode)

    /// The WebSocket is over: nothing comes any more, and what is sent is lost. Called exactly once.
    ///
    /// - Parameter code: The peer's close code or ours; 1006 when the connection ended without one.
    func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode)

    /// The server goes away: what is sent now comes before the close frame.
    func serverStops(_ webSocket: WebSocket)

    /// An operator ends it: what is sent now comes before the close frame. Whoever closes it does so in its own way.
    func operatorEnds(_ webSocket: WebSocket)

    /// What operators are told of it.
    var facts: ConnectionFacts { get }

    /// The kernel has all that was sent. Called only while ``WebSocket/reportsDrain`` is set.
    func webSocketDidDrain(_ webSocket: WebSocket)
}

extension WebSocketHandler {
    package func serverStops(_ webSocket: WebSocket) {}
    package func operatorEnds(_ webSocket: WebSocket) {}
    package var facts: ConnectionFacts { ConnectionFacts() }
    package func webSocketDidDrain(_ webSocket: WebSocket) {}
}
