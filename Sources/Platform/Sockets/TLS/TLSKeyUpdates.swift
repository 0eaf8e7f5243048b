import COpenSSL

/// A limit for key updates that a peer may cause (RFC 8446 §4.6.3). An update is 27 bytes that no handler sees and no
/// rate counts, but OpenSSL must derive keys and perhaps answer.
///
/// A session has a credit in bytes. Received bytes increase it, and updates reduce it. A peer therefore has some
/// updates at once, and more for each megabyte that it sends. The standard requires none before about 2^24 records
/// (§5.5).
enum TLSKeyUpdates {
    static let cost = 1 << 20
    static let maxCredit = 32 * cost

    /// Charges updates in sessions of `context`. OpenSSL reports handshake steps this way, and nothing about other
    /// records.
    static func charge(in context: OpaquePointer) {
        SSL_CTX_set_info_callback(context) { session, _, _ in
            let state = SSL_get_state(session)
            guard state == TLS_ST_SR_KEY_UPDATE || state == TLS_ST_CR_KEY_UPDATE else { return }
            TLSBIO.ports(of: session)?.pointee.payKeyUpdate()
        }
    }
}
