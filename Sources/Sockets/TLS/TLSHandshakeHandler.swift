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
