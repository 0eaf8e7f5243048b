import COpenSSL

/// The trusted authorities and TLS settings of a client. It uses TLS 1.2 and 1.3. With 1.2 it uses only ciphers with
/// forward secrecy, as the server's ``TLSContext`` does. A server needs a certificate that is valid for the requested
/// name, with a chain that ends at a trusted authority.
package final class TLSClientContext: @unchecked Sendable {
    // `@unchecked Sendable` is safe for the same reasons as in ``TLSContext``.

    let handle: OpaquePointer

    /// - Parameter authorities: A PEM file of trusted authorities, or `nil` for the system's.
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
        let loaded =
            authorities.map { SSL_CTX_load_verify_file(handle, $0) } ?? SSL_CTX_set_default_verify_paths(handle)
        // The list has one name, with its length before it (RFC 7301 §3.1). The call below returns 0 on success.
        let protocols = [8] + Array("http/1.1".utf8)
        guard loaded == 1, CSSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION) == 1,
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

    /// Makes a client session for `host`, which is a name or an IP address without brackets. Returns `nil` if memory is
    /// exhausted or `host` is invalid.
    func makeSession(to host: String) -> OpaquePointer? {
        guard let ssl = SSL_new(handle) else { return nil }
        let parameters = SSL_get0_param(ssl)
        // An IP address isn't sent to the server as a name (RFC 6066 §3). It is compared with the addresses in the
        // certificate.
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
