package import Sockets

extension Configuration {
    /// Reads the certificate and the key from their files. Blocks while it reads.
    ///
    /// - Returns: `nil` if TLS isn't configured.
    /// - Throws: ``TLSFileError`` that names the file.
    package func tlsContext() throws(TLSFileError) -> TLSContext? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try TLSContext(certificateFile: tlsCertificate, keyFile: tlsKey)
    }
}
