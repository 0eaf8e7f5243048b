import CLinux
import Glibc

/// Who speaks for a socket while its TLS handshake is under way. All calls come on the socket's loop.
package protocol TLSHandshakeHandler: StreamSocketHandler {
    /// The handshake is complete: from now on the socket carries bytes of the protocol within, and another
    /// ``StreamSocket/handler`` is to be set.
    func socketDidSecure(_ socket: StreamSocket)

    /// The handshake failed, and the handler is to finish or close the socket. After
    /// ``TLSHandshakeFailure/plainHTTP`` the socket is plain again, so that it can be told in the clear; else OpenSSL's alert
    /// leaves.
    ///
    /// - Parameter reason: OpenSSL's, for the log.
    func socket(_ socket: StreamSocket, handshakeFailed failure: TLSHandshakeFailure, because reason: String)
}

/// TLS on a socket: between the kernel and the handler, records.
extension StreamSocket {
    /// Begins the server's side of a TLS handshake. `handler` speaks for the socket until it is complete.
    ///
    /// - Parameter received: What came already, behind a PROXY header.
    package func beginTLS(
        _ context: TLSContext, handler: any TLSHandshakeHandler, received: UnsafeRawBufferPointer
    ) {
        guard isOpen else { return }
        self.handler = handler
        tls = TLSSession(context)
        guard tls != nil else { return fail(.failed(ENOMEM)) }
        if !received.isEmpty { receiveRecords(received) }
    }

    /// Begins the client's side of a TLS handshake with `host`, which the server's certificate has to be for. `handler` speaks for
    /// the socket until it is complete.
    package func beginTLS(_ context: TLSClientContext, to host: String, handler: any TLSHandshakeHandler) {
        guard isOpen else { return }
        self.handler = handler
        tls = TLSSession(context, to: host)
        guard tls != nil else { return fail(.failed(ENOMEM)) }
        // Nothing has come; but it is for the client to begin.
        receiveRecords(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func receiveRecords(_ ciphertext: UnsafeRawBufferPointer) {
        guard let tls else { return }
        let input = tls.open(ciphertext, with: reactor.tlsTraffic)
        if !tls.unsent.isEmpty, !isScheduled { scheduleFlush() }
        if input.isNewlySecure { handshakeHandler?.socketDidSecure(self) }
        if isOpen, !input.plaintext.isEmpty { handler?.socket(self, received: input.plaintext) }
        // The handler may have given the socket away: then the session is another loop's already.
        guard isOpen else { return }
        if let (cause, reason) = input.failure { return failed(tls, cause, reason) }
        if tls.unsent.count > TLSSession.maxUnsentBytes { return fail(.sendQueueFull) }
        if input.hasEnded { receivedEnd() }
    }

    /// Until the handshake is complete, whoever was given to ``beginTLS(_:handler:received:)``.
    private var handshakeHandler: (any TLSHandshakeHandler)? { handler as? any TLSHandshakeHandler }

    private func failed(_ tls: TLSSession, _ cause: TLSHandshakeFailure, _ reason: String) {
        guard !tls.isSecure, let handler = handshakeHandler else {
            // The alert leaves if it can; nothing else can be sent any more.
            queue = SendQueue()
            if sendRecords() { fail(.failed(EPROTO)) }
            return
        }
        if cause == .plainHTTP { self.tls = nil }
        handler.socket(self, handshakeFailed: cause, because: reason)
    }

    /// Seals what waits and gives it to the kernel: one call for what was left over, and for up to three new records.
    /// `false` when the socket is gone.
    func sendRecords() -> Bool {
        while let tls {
            let traffic = reactor.tlsTraffic
            guard tls.seal(&queue, isLast: phase == .finishing, with: traffic, reactor.vectors) else {
                fail(.failed(EPROTO))
                return false
            }
            let output = traffic.output
            let offered = tls.unsent.count + output.count
            guard offered > 0 else { return true }
            let taken = tls.unsent.withUnsafeBytes { send($0, output) }
            guard taken >= 0 else {
                let code = errno
                tls.sent(0, of: output)
                switch code {
                case EAGAIN, ENOBUFS, ENOMEM: return true
                default:
                    fail(.failed(code))
                    return false
                }
            }
            tls.sent(taken, of: output)
            if taken < offered || queue.isEmpty { return true }
        }
        return true
    }

    /// Both pieces in one call.
    private func send(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Int {
        let vectors = reactor.vectors
        var count = 0
        for piece in [first, second] where !piece.isEmpty {
            vectors[count] = iovec(
                iov_base: UnsafeMutableRawPointer(mutating: piece.baseAddress), iov_len: piece.count)
            count += 1
        }
        var message = msghdr()
        message.msg_iov = vectors.baseAddress
        message.msg_iovlen = count
        while true {
            let taken = sendmsg(descriptor, &message, CInt(MSG_NOSIGNAL))
            guard taken < 0, errno == EINTR else { return taken }
        }
    }
}
