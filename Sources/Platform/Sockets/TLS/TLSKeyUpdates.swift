import COpenSSL

/// A limit for key updates that a peer may cause (RFC 8446 §4.6.3). An update takes only 27 bytes, and neither the
/// handler nor a rate counts it. But OpenSSL must derive keys, and perhaps answer.
///
/// A session has a credit in bytes. Received bytes increase the credit, and updates reduce it. A new peer can therefore
/// cause some updates immediately, and more for each megabyte that it sends. The standard requires no update before
/// about 2^24 records (§5.5).
enum TLSKeyUpdates {
    static let cost = 1 << 20
    static let maxCredit = 32 * cost

    /// Makes updates in sessions of `context` reduce the credit. The callback is called for messages of the handshake,
    /// which include updates, but not for other records.
    static func charge(in context: OpaquePointer) {
        SSL_CTX_set_info_callback(context) { session, _, _ in
            let state = SSL_get_state(session)
            guard state == TLS_ST_SR_KEY_UPDATE || state == TLS_ST_CR_KEY_UPDATE else { return }
            TLSBIO.ports(of: session)?.pointee.payKeyUpdate()
        }
    }
}
