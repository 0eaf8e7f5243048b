import COpenSSL

/// What a peer may have spent on new keys (RFC 8446 §4.6.3): an update is 27 bytes, which no handler sees and no rate counts, and has
/// OpenSSL derive keys and perhaps answer.
///
/// A session has a credit in bytes, into which what comes is paid and out of which updates are. So a peer has some at once, and as
/// many more as it sends megabytes; the standard has it make none before some 2^24 records (§5.5).
enum TLSKeyUpdates {
    static let cost = 1 << 20
    static let maxCredit = 32 * cost

    /// Has those that come be paid for, in sessions of `context`. OpenSSL tells steps of handshakes this way, and nothing of other
    /// records.
    static func charge(in context: OpaquePointer) {
        SSL_CTX_set_info_callback(context) { session, _, _ in
            let state = SSL_get_state(session)
            guard state == TLS_ST_SR_KEY_UPDATE || state == TLS_ST_CR_KEY_UPDATE else { return }
            TLSBIO.ports(of: session)?.pointee.payKeyUpdate()
        }
    }
}
