import COpenSSL

/// OpenSSL's state, of which a process has one.
package enum TLSLibrary {
    private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Prevents OpenSSL from freeing its memory when the process exits. Other threads may still use it then: one of 200
    /// runs of a program crashed that ended while an event loop closed a connection.
    ///
    /// It works only before the first use of OpenSSL in the process. Other libraries use OpenSSL, so call this first.
    /// Any thread, any number of times.
    package static func keepUntilExit() { _ = isKept }
}
