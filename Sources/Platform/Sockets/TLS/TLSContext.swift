import COpenSSL

/// A server's certificate with its key, and the TLS settings.
///
/// The context uses TLS 1.2 and 1.3. With 1.2 it uses only ciphers with forward secrecy and authentication. It permits
/// no renegotiation, no compression and no early data. A client may resume with a ticket. Tickets are encrypted with
/// keys of this context and aren't stored. Another context (after a reload, or of another daemon) can't read them, so
/// the client makes a full handshake.
package final class TLSContext: @unchecked Sendable {
    // `@unchecked Sendable` is safe for three reasons: the SSL_CTX isn't changed after `init`, its reference count is
    // atomic, and any thread may call SSL_new.

    let handle: OpaquePointer
    package let certificate: TLSCertificate
    /// Warnings for the operator. The certificate can be used nevertheless.
    package let warnings: [String]

    /// Reads both PEM files. Blocks until they are read.
    ///
    /// - Parameters:
    ///   - certificateFile: The server's certificate, followed by the intermediate ones in order.
    ///   - keyFile: The file with the unencrypted key. It may be the certificate's file.
    /// - Throws: ``TLSFileError`` if the files can't be read, don't match or are too weak.
    package init(certificateFile: String, keyFile: String) throws(TLSFileError) {
        let chain = try TLSFile(certificateFile)
        let key = try TLSFile(keyFile)
        TLSLibrary.keepUntilExit()
        TLSErrorQueue.clear()
        guard let handle = SSL_CTX_new(TLS_server_method()) else {
            throw TLSFileError(path: certificateFile, reason: TLSErrorQueue.take())
        }
        // From here on, `deinit` frees the context. Before all properties are set, `deinit` wouldn't run.
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
        // With this mode, an idle connection has no record buffers, which would take 34 KB.
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

    /// Selects `http/1.1` from the client's list, in which each name follows its length (RFC 7301 §3.1). If a client
    /// offers only other protocols, it gets an error.
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
