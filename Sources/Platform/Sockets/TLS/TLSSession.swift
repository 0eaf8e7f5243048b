import COpenSSL
import Glibc

/// The TLS state of one connection. It decrypts received bytes and encrypts sent ones. It doesn't use the socket.
///
/// The class isn't `Sendable`: a session belongs to its socket, and therefore to one loop at a time. Between two calls
/// it holds at most one incomplete record.
/// incomplete record.
final class TLSSession {
    /// The result of reading ciphertext.
    struct Input {
        /// The decrypted bytes. These bytes are in the loop's buffer, and valid until the next call for any session of
        /// the loop.
        var plaintext: UnsafeMutableRawBufferPointer
        /// Whether this input has completed the handshake.
        var isNewlySecure = false
        /// Whether the peer has sent close_notify, after which it sends nothing more (RFC 8446 §6.1).
        var hasEnded = false
        /// The error, or `nil`. In case of an error, OpenSSL has written an alert to the output.
        var failure: (cause: TLSHandshakeFailure, reason: String)?
    }

    private static let maxHandshakeBytes = 32 * 1024
    /// The maximum number of unsent ciphertext bytes at which more bytes are encrypted.
    private static let sealedAhead = TLSTraffic.recordBytes
    private static let recordsPerSend = 3
    /// The maximum number of unsent bytes. If it is exceeded, the peer causes answers (alerts, key updates) without
    /// reading them.
    static let maxUnsentBytes = 256 * 1024

    private let ssl: OpaquePointer
    private let bio: OpaquePointer
    /// The check of the client's first bytes. `nil` in a client's session, where the server's bytes are answers.
    private var inspector: ClientHelloInspector?
    private var handshakeBytes = 0
    private var hasSentCloseNotify = false
    private(set) var isSecure = false
    /// The credit for key updates, see ``TLSKeyUpdates``. The type has 32 bits, because it fills a gap between the
    /// fields.
    private var keyUpdateCredit = Int32(TLSKeyUpdates.maxCredit)
    /// Ciphertext that the kernel has not taken yet.
    private(set) var unsent: [UInt8] = []

    /// Makes the session of a server's connection.
    ///
    /// - Returns: `nil` if memory is exhausted.
    convenience init?(_ context: TLSContext) {
        guard let ssl = SSL_new(context.handle) else {
            TLSErrorQueue.clear()
            return nil
        }
        SSL_set_accept_state(ssl)
        self.init(ssl, inspector: ClientHelloInspector())
    }

    /// Makes the session of a client's connection to `host`. The server's certificate must be valid for `host`.
    ///
    /// - Returns: `nil` if memory is exhausted or `host` is invalid.
    convenience init?(_ context: TLSClientContext, to host: String) {
        guard let ssl = context.makeSession(to: host) else {
            TLSErrorQueue.clear()
            return nil
        }
        self.init(ssl, inspector: nil)
    }

    private init?(_ ssl: OpaquePointer, inspector: ClientHelloInspector?) {
        guard let bio = TLSBIO.make() else {
            SSL_free(ssl)
            TLSErrorQueue.clear()
            return nil
        }
        // The session owns the BIO. It uses the same BIO for both directions, and takes only one reference.
        SSL_set_bio(ssl, bio, bio)
        self.ssl = ssl
        self.bio = bio
        self.inspector = inspector
    }

    deinit {
        SSL_free(ssl)
    }

    /// Whether the peer's close_notify has been received.
    var peerHasEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    // MARK: Received bytes

    /// Decrypts all of `ciphertext`. Answers of OpenSSL are added to ``unsent``.
    func open(_ ciphertext: UnsafeRawBufferPointer, with traffic: TLSTraffic) -> Input {
        var input = Input(plaintext: UnsafeMutableRawBufferPointer(start: nil, count: 0))
        if !isSecure {
            handshakeBytes += ciphertext.count
            let isOldVersion = SSL_version(ssl) == TLS1_2_VERSION
            if case .refused(let cause)? = inspector?.inspect(ciphertext, isOldVersion: isOldVersion) {
                input.failure = (cause, "no ClientHello, or none of a sensible length")
                return input
            }
        }
        begin(with: traffic)
        traffic.ports.pointee.input = ciphertext
        traffic.ports.pointee.keyUpdateCredit = min(Int(keyUpdateCredit) + ciphertext.count, TLSKeyUpdates.maxCredit)
        TLSErrorQueue.clear()
        if isSecure || shakeHands(&input) { decrypt(into: traffic.plaintext, &input) }
        keyUpdateCredit = Int32(clamping: traffic.ports.pointee.keyUpdateCredit)
        if keyUpdateCredit < 0 { input.failure = (.protocolError, "more key updates than anybody has to make") }
        traffic.ports.pointee.input = UnsafeRawBufferPointer(start: nil, count: 0)
        unsent.append(contentsOf: traffic.output)
        return input
    }

    /// Continues the handshake. Returns whether it is complete.
    private func shakeHands(_ input: inout Input) -> Bool {
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            isSecure = true
            input.isNewlySecure = true
            return true
        }
        if SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
            input.failure = (.protocolError, certificateRefusal ?? TLSErrorQueue.take())
            TLSErrorQueue.clear()
        } else if handshakeBytes > Self.maxHandshakeBytes {
            input.failure = (.tooLarge, "more than \(Self.maxHandshakeBytes) bytes")
        }
        return false
    }

    /// The reason why the peer's certificate was refused, or `nil` if the error has another reason.
    private var certificateRefusal: String? {
        let result = SSL_get_verify_result(ssl)
        guard result != X509_V_OK, let text = X509_verify_cert_error_string(result) else { return nil }
        return "the certificate is not believed: \(String(cString: text))"
    }

    private func decrypt(into buffer: UnsafeMutableRawBufferPointer, _ input: inout Input) {
        var length = 0
        defer { input.plaintext = UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]) }
        while length < buffer.count, let start = buffer.baseAddress {
            let count = SSL_read(ssl, start + length, CInt(buffer.count - length))
            guard count <= 0 else {
                length += Int(count)
                continue
            }
            switch SSL_get_error(ssl, count) {
            case SSL_ERROR_WANT_READ: break
            case SSL_ERROR_ZERO_RETURN: input.hasEnded = true
            default: input.failure = (.protocolError, TLSErrorQueue.take())
            }
            return
        }
    }

    // MARK: Sent bytes

    /// Encrypts those bytes of `queue` that can be sent soon, into ``TLSTraffic/output``. The output must be sent after
    /// ``unsent``.
    ///
    /// - Parameter isLast: Whether close_notify is sent when the queue is empty.
    /// - Returns: `false` if the session has failed.
    func seal(
        _ queue: inout SendQueue, isLast: Bool, with traffic: TLSTraffic, _ vectors: UnsafeMutableBufferPointer<iovec>
    )
        -> Bool
    {
        begin(with: traffic)
        guard isSecure else { return true }
        TLSErrorQueue.clear()
        var records = 0
        while !queue.isEmpty, records < Self.recordsPerSend, unsent.count <= Self.sealedAhead {
            let plaintext = Self.nextRecord(of: queue, in: traffic.record, vectors)
            // The BIO takes all bytes in one call, and TLS doesn't renegotiate. So SSL_write either writes all bytes or
            // fails.
            guard SSL_write(ssl, plaintext.baseAddress, CInt(plaintext.count)) == plaintext.count else {
                TLSErrorQueue.clear()
                return false
            }
            queue.removeFirst(plaintext.count)
            records += 1
        }
        if isLast, queue.isEmpty, !hasSentCloseNotify {
            hasSentCloseNotify = true
            // 0 means that close_notify was sent but the peer's close_notify hasn't arrived. This side doesn't wait for
            // it.
            if SSL_shutdown(ssl) < 0 { TLSErrorQueue.clear() }
        }
        return true
    }

    /// Whether close_notify must still be sent when the queue is empty, after ``StreamSocket/finish(sending:)``.
    var owesCloseNotify: Bool { isSecure && !hasSentCloseNotify }

    /// Returns the next bytes, at most one record. If they are in several pieces, they are copied to `buffer`.
    private static func nextRecord(
        of queue: SendQueue, in buffer: UnsafeMutableRawBufferPointer, _ vectors: UnsafeMutableBufferPointer<iovec>
    ) -> UnsafeRawBufferPointer {
        let count = queue.gather(into: vectors)
        if count == 1 || (count > 0 && vectors[0].iov_len >= buffer.count) {
            return UnsafeRawBufferPointer(start: vectors[0].iov_base, count: min(vectors[0].iov_len, buffer.count))
        }
        var length = 0
        for index in 0..<count where length < buffer.count {
            let part = UnsafeRawBufferPointer(start: vectors[index].iov_base, count: vectors[index].iov_len)
                .prefix(buffer.count - length)
            UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).copyBytes(from: part)
            length += part.count
        }
        return UnsafeRawBufferPointer(rebasing: buffer[..<length])
    }

    /// Removes the first `count` bytes of ``unsent`` and `output`, which the kernel took, and keeps the rest.
    func sent(_ count: Int, of output: UnsafeRawBufferPointer) {
        if count >= unsent.count {
            let rest = output[(count - unsent.count)...]
            unsent = Array(rest)
        } else {
            unsent.removeFirst(count)
            unsent.append(contentsOf: output)
        }
    }

    private func begin(with traffic: TLSTraffic) {
        traffic.beginOutput()
        BIO_set_data(bio, traffic.ports)
    }
}
