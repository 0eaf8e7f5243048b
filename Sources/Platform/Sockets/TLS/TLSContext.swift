import COpenSSL

/// A certificate with its key, and how TLS is spoken with it: what a server needs for handshakes.
///
/// Decided here: TLS 1.2 and 1.3; of 1.2, ciphers with forward secrecy and authentication only; no renegotiation, no
/// compression, no early data. A client may resume by a ticket, which the server seals with keys of this context's own
/// and doesn't store: another context (a reload, another daemon) can't read it, and the client does a full handshake.
package final class TLSContext: @unchecked Sendable {
    // Sendable holds: the SSL_CTX is set up in `init` and not changed afterwards, its reference count is atomic, and
    // SSL_new may be called from any thread.

    let handle: OpaquePointer
    package let certificate: TLSCertificate
    /// What an operator should know, though it prevents nothing.
    package let warnings: [String]

    /// Reads both files, in PEM. Blocks for as long as that takes.
    ///
    /// - Parameters:
    ///   - certificateFile: The server's certificate, then those between it and the root, in order.
    ///   - keyFile: Its key, not encrypted. It may be the same file.
    /// - Throws: ``TLSFileError`` when they can't be read, don't match or are too weak.
    package init(certificateFile: String, keyFile: String) throws(TLSFileError) {
        let chain = try TLSFile(certificateFile)
        let key = try TLSFile(keyFile)
        TLSLibrary.keepUntilExit()
        TLSErrorQueue.clear()
        guard let handle = SSL_CTX_new(TLS_server_method()) else {
            throw TLSFileError(path: certificateFile, reason: TLSErrorQueue.take())
        }
        // From here on deinit would free it; before all is set, it doesn't run.
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
        // An idle connection keeps no record buffers: they are 34 KB.
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

    /// Finds `http/1.1` in a client's list (RFC 7301 §3.1: each name behind its length). What else it offers isn't spoken
    /// here, and a client that offers nothing else is told.
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
