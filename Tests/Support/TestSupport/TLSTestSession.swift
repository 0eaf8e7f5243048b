import COpenSSL

/// A client's TLS session in memory, so that a test controls every byte between the two ends. It doesn't verify
/// certificates.
///
/// Not `Sendable`: used by one task.
package final class TLSTestSession {
    /// OpenSSL's error.
    package struct Failure: Error {
        package let reason: String
    }

    private let context: OpaquePointer
    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer

    package init(version: Int32 = TLS1_3_VERSION) throws {
        guard let context = SSL_CTX_new(TLS_client_method()), let ssl = SSL_new(context),
            let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
        else { throw Failure(reason: "no memory") }
        (self.context, self.ssl, self.incoming, self.outgoing) = (context, ssl, incoming, outgoing)
        SSL_set_bio(ssl, incoming, outgoing)
        SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        SSL_set_connect_state(ssl)
        ERR_clear_error()
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
    }

    /// Passes bytes from the server.
    package func receive(_ ciphertext: some Collection<UInt8>) {
        let bytes = Array(ciphertext)
        if !bytes.isEmpty { BIO_write(incoming, bytes, Int32(bytes.count)) }
    }

    /// Returns the bytes to send to the server.
    package func takeOutput() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: BIO_ctrl_pending(outgoing))
        guard !bytes.isEmpty else { return [] }
        let count = BIO_read(outgoing, &bytes, Int32(bytes.count))
        return Array(bytes.prefix(Int(max(0, count))))
    }

    /// Continues the handshake. Returns whether it is complete.
    package func shakeHands() throws -> Bool {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 { return true }
        try check(result)
        return false
    }

    package func write(_ plaintext: [UInt8]) throws {
        ERR_clear_error()
        let result = SSL_write(ssl, plaintext, Int32(plaintext.count))
        guard result == Int32(plaintext.count) else { return try check(result) }
    }

    /// Returns the plaintext of the bytes received.
    package func read() throws -> [UInt8] {
        ERR_clear_error()
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = SSL_read(ssl, &buffer, Int32(buffer.count))
            guard count > 0 else {
                try check(count)
                return all
            }
            all += buffer.prefix(Int(count))
        }
    }

    /// Whether the server's close_notify has arrived.
    package var hasEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }

    /// Sends close_notify.
    package func close() { SSL_shutdown(ssl) }

    /// Updates the client's keys, and asks the server to update its keys (RFC 8446 §4.6.3).
    package func updateKeys() throws {
        guard SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) == 1 else { return try check(0) }
        _ = try shakeHands()
    }

    private func check(_ result: Int32) throws {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN: return
        default:
            let reason = ERR_reason_error_string(ERR_peek_error()).map { String(cString: $0) } ?? "closed"
            throw Failure(reason: reason)
        }
    }
}
