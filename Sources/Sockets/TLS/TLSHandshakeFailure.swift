/// Why a connection to a TLS port came to nothing.
package enum TLSHandshakeFailure: String, Sendable, CaseIterable {
    /// It took longer than it may.
    case timeout
    /// The peer spoke HTTP without TLS.
    case plainHTTP = "plain-http"
    /// What the peer sent is no TLS, or not of the versions and ciphers that are spoken here, or it refused ours.
    case protocolError = "protocol"
    /// It was longer than any handshake has to be.
    case tooLarge = "too-large"
    /// The peer left in the midst of it.
    case closed
}
