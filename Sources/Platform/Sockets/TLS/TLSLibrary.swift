import COpenSSL

/// OpenSSL as a whole, which a process has once.
package enum TLSLibrary {
    private static let isKept = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

    /// Has OpenSSL leave its memory to the system when the process exits. By itself it would take down in `exit` what other threads still
    /// use: of a program that ends while an event loop lets go of a connection, each two-hundredth run crashed.
    ///
    /// It counts if nobody in the process has used OpenSSL before: other libraries do, so who has them calls this first. Any thread, any
    /// number of times.
    package static func keepUntilExit() { _ = isKept }
}
