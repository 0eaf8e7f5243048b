import COpenSSL

/// Whom a client believes, and how it speaks TLS: 1.2 and 1.3, of 1.2 ciphers with forward secrecy only, as the server's
/// ``TLSContext``. A server has to show a certificate for the name that was asked for, whose chain ends at an authority that is
/// believed, and whose time it is.
package final class TLSClientContext: @unchecked Sendable {
    // Sendable holds for the reasons of ``TLSContext``.

    let handle: OpaquePointer

    /// - Parameter authorities: A file of the authorities that are believed, in PEM; `nil` for the system's own.
    package init(authorities: String? = nil) throws(TLSFileError) {
        TLSLibrary.keepUntilExit()
        TLSErrorQueue.clear()
        let subject = authorities ?? "the system's authorities"
        guard let handle = SSL_CTX_new(TLS_client_method()) else {
            throw TLSFileError(path: subject, reason: TLSErrorQueue.take())
        }
        SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_options(handle, CSSL_OP_NO_RENEGOTIATION | CSSL_OP_NO_COMPRESSION)
        CSSL_CTX_set_mode(handle, Int(SSL_MODE_RELEASE_BUFFERS))
        TLSKeyUpdates.charge(in: handle)
        let believed =
            authorities.map { SSL_CTX_load_verify_file(handle, $0) } ?? SSL_CTX_set_default_verify_paths(handle)
        // Its name behind its length (RFC 7301 §3.1). The call gives 0 when it worked.
        let protocols = [8] + Array("http/1.1".utf8)
        guard believed == 1, CSSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION) == 1,
            SSL_CTX_set_cipher_list(handle, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1,
            SSL_CTX_set_alpn_protos(handle, protocols, CUnsignedInt(protocols.count)) == 0
        else {
            SSL_CTX_free(handle)
            throw TLSFileError(path: subject, reason: TLSErrorQueue.take())
        }
        self.handle = handle
    }

    deinit {
        SSL_CTX_free(handle)
    }

    /// A client's end for a connection to `host`, a name or an IP address without brackets; `nil` when there is no memory, or
    /// that can be no host.
    func makeSession(to host: String) -> OpaquePointer? {
        guard let ssl = SSL_new(handle) else { return nil }
        let parameters = SSL_get0_param(ssl)
        // An address is no name: it isn't sent (RFC 6066 §3), and is looked for among the certificate's addresses.
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1
        TLSErrorQueue.clear()
        let isSet = isAddress || (SSL_set1_host(ssl, host) == 1 && CSSL_set_tlsext_host_name(ssl, host) == 1)
        guard isSet else {
            SSL_free(ssl)
            return nil
        }
        X509_VERIFY_PARAM_set_hostflags(parameters, CUnsignedInt(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        SSL_set_connect_state(ssl)
        return ssl
    }
}
