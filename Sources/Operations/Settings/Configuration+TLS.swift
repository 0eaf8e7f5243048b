package import Sockets

extension Configuration {
    /// Reads certificate and key, as they are in their files now. Blocks for as long as that takes.
    ///
    /// - Returns: `nil` when no TLS is asked for.
    /// - Throws: ``TLSFileError``, naming the file.
    package func tlsContext() throws(TLSFileError) -> TLSContext? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try TLSContext(certificateFile: tlsCertificate, keyFile: tlsKey)
    }
}
