import COpenSSL

/// A server's certificate with its key, and the TLS settings.
///
/// TLS 1.2 and 1.3; in 1.2 only ciphers with forward secrecy and authentication. No renegotiation, no compression, no
/// early data. A client may resume with a ticket, which is sealed with keys of this context and not stored. Another
/// context (after a reload, or of another daemon) can't read it, and the client makes a full handshake.
package final class TLSContext: @unchecked Sendable {
    // Sendable is safe: the SSL_CTX isn't changed after `init`, its reference count is atomic, and SSL_new may be
    // called from any thread.

    let handle: OpaquePointer
    package let certificate: TLSCertificate
    /// Warnings for the operator about a usable certificate.
    package let warnings: [String]

    /// Reads both PEM files. Blocks during that time.
    ///
    /// - Parameters:
    /// - certificateFile: The server's certificate, then the intermediate ones in order.
    /// - keyFile: The unencrypted key. It may be the same file.
    /// - Throws: ``TLSFileError`` if they can't be read, don't match or are too weak.
    package init(certificateFile: String, keyFile: String) throws(TLSFileError) {
        let chain = try TLSFile(certificateFile)
        let key = try TLSFile(keyFile)
        TLSLibrary.keepUntilExit()
        TLSErrorQueue.clear()
        guard let handle = SSL_CTX_new(TLS_server_method()) else {
            throw TLSFileError(path: certificateFile, reason: TLSErrorQueue.take())
        }
        // From here on deinit frees the context. It doesn't run before all properties are set.
        do throws(TLSFileError) {
            try Self.configure(handle, for: certificateFile)
            certificate = try TLSPEM.useChain(of: chain, in: handle)
            try TLSPEM.useKey(of: key, in: handle, certificateFile: certificateFile)
        } catch {
            SSL_CTX_free(handle)
            throw error
        }
        self.handle = handle
        warnings = key.isOpenToOthers ? ["\(keyFile) can be read or changed by every user of this machine"] : []
    }

    deinit {
        SSL_CTX_free(handle)
    }

    private static func configure(_ context: OpaquePointer, for path: String) throws(TLSFileError) {
        SSL_CTX_set_options(context, CSSL_OP_NO_RENEGOTIATION | CSSL_OP_NO_COMPRESSION)
        // An idle connection keeps no record buffers. They take 34 KB.
        CSSL_CTX_set_mode(context, Int(SSL_MODE_RELEASE_BUFFERS))
        TLSKeyUpdates.charge(in: context)
        CSSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_alpn_select_cb(
            context,
            { _, selected, selectedLength, offered, length, _ in
                TLSContext.select(selected, selectedLength, from: offered, length)
            }, nil)
        guard CSSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
            SSL_CTX_set_num_tickets(context, 1) == 1
        else { throw TLSFileError(path: path, reason: TLSErrorQueue.take()) }
    }

    /// Selects `http/1.1` from a client's list (RFC 7301 §3.1: each name after its length). A client that offers only
    /// other protocols gets an error.
    private static func select(
        _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ selectedLength: UnsafeMutablePointer<UInt8>?,
        from offered: UnsafePointer<UInt8>?, _ length: CUnsignedInt
    ) -> CInt {
        let names = UnsafeBufferPointer(start: offered, count: Int(length))
        var index = 0
        while index < names.count {
            let end = index + 1 + Int(names[index])
            guard end <= names.count else { break }
            if names[(index + 1)..<end].elementsEqual("http/1.1".utf8) {
                selected?.pointee = offered?.advanced(by: index + 1)
                selectedLength?.pointee = names[index]
                return SSL_TLSEXT_ERR_OK
            }
            index = end
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
