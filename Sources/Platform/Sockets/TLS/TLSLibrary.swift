import COpenSSL

/// OpenSSL's global state. A process has only one.
package enum TLSLibrary {
    private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Prevents OpenSSL from freeing its memory when the process exits, because other threads may still use it. Without
    /// this, one of 200 runs of a program crashed if it ended while an event loop closed a connection.
    ///
    /// This works only before the first use of OpenSSL in the process. Other libraries use OpenSSL too, so call this
    /// first. Any thread may call it, any number of times.
    package static func keepUntilExit() { _ = isKept }
}
