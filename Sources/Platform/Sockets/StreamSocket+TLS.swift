import CLinux
import Glibc

/// The handler of a socket during its TLS handshake. All calls come on the socket's loop.
package protocol TLSHandshakeHandler: StreamSocketHandler {
    /// Reports that the handshake is complete. The socket now carries the inner protocol. Set another
    /// ``StreamSocket/handler``.
    func socketDidSecure(_ socket: StreamSocket)

    /// Reports that the handshake failed. The handler must finish or close the socket. After
    /// ``TLSHandshakeFailure/plainHTTP`` the socket is plain again, so that the handler can send a response without
    /// TLS. After any other failure, OpenSSL's alert is sent.
    ///
    /// - Parameter reason: OpenSSL's reason, for the log.
    func socket(_ socket: StreamSocket, handshakeFailed failure: TLSHandshakeFailure, because reason: String)
}

/// TLS on a socket: records between the kernel and the handler.
extension StreamSocket {
    /// Begins the server's side of a TLS handshake. `handler` serves the socket until the handshake is complete.
    ///
    /// - Parameter received: Bytes that were already received, after a PROXY header.
    package func beginTLS(
        _ context: TLSContext, handler: any TLSHandshakeHandler, received: UnsafeRawBufferPointer
    ) {
        guard isOpen else { return }
        self.handler = handler
        tls = TLSSession(context)
        guard tls != nil else { return fail(.failed(ENOMEM)) }
        if !received.isEmpty { receiveRecords(received) }
    }

    /// Begins the client's side of a TLS handshake. The server's certificate must be valid for `host`. `handler` serves
    /// the socket until the handshake is complete.
    package func beginTLS(_ context: TLSClientContext, to host: String, handler: any TLSHandshakeHandler) {
        guard isOpen else { return }
        self.handler = handler
        tls = TLSSession(context, to: host)
        guard tls != nil else { return fail(.failed(ENOMEM)) }
        // The client begins the handshake, so this starts it without received bytes.
        receiveRecords(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    func receiveRecords(_ ciphertext: UnsafeRawBufferPointer) {
        guard let tls else { return }
        let input = tls.open(ciphertext, with: reactor.tlsTraffic)
        if !tls.unsent.isEmpty, !isScheduled { scheduleFlush() }
        if input.isNewlySecure { handshakeHandler?.socketDidSecure(self) }
        if isOpen, !input.plaintext.isEmpty { handler?.socket(self, received: input.plaintext) }
        // The handler may have moved the socket. In that case the TLS session belongs to another loop.
        guard isOpen else { return }
        if let (cause, reason) = input.failure { return failed(tls, cause, reason) }
        if tls.unsent.count > TLSSession.maxUnsentBytes { return fail(.sendQueueFull) }
        if input.hasEnded { receivedEnd() }
    }

    /// The handler that ``beginTLS(_:handler:received:)`` got, until the handshake is complete.
    private var handshakeHandler: (any TLSHandshakeHandler)? { handler as? any TLSHandshakeHandler }

    private func failed(_ tls: TLSSession, _ cause: TLSHandshakeFailure, _ reason: String) {
        guard !tls.isSecure, let handler = handshakeHandler else {
            // OpenSSL's alert is sent if possible. The queued bytes can't be sent any more.
            queue = SendQueue()
            if sendRecords() { fail(.failed(EPROTO)) }
            return
        }
        if cause == .plainHTTP { self.tls = nil }
        handler.socket(self, handshakeFailed: cause, because: reason)
    }

    /// Encrypts the queue and sends it in one call, with unsent bytes and up to three new records. Returns `false` if
    /// the socket is closed.
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

    /// Sends both pieces in one call.
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
