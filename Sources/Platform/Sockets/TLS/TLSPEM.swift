import COpenSSL

/// The answer when OpenSSL asks for a passphrase. Without an answer, OpenSSL would ask at the terminal.
private let noPassphrase: CInt = -1

/// Loads certificates and keys from PEM files into an `SSL_CTX`.
enum TLSPEM {
    /// Loads the server's certificate, which must be the first in the file, and the intermediate ones.
    static func useChain(of file: TLSFile, in context: OpaquePointer) throws(TLSFileError) -> TLSCertificate {
        let source = try memory(file)
        defer { BIO_free(source) }
        guard let own = PEM_read_bio_X509_AUX(source, nil, { _, _, _, _ in noPassphrase }, nil) else {
            throw failure(file, "CERTIFICATE", else: "it contains no certificate in PEM")
        }
        defer { X509_free(own) }
        guard SSL_CTX_use_certificate(context, own) == 1 else {
            throw TLSFileError(path: file.path, reason: TLSErrorQueue.take())
        }
        var count = 1
        while let next = PEM_read_bio_X509(source, nil, { _, _, _, _ in noPassphrase }, nil) {
            defer { X509_free(next) }
            guard CSSL_CTX_add1_chain_cert(context, next) == 1 else {
                throw TLSFileError(path: file.path, reason: TLSErrorQueue.take())
            }
            count += 1
        }
        // The last read normally finds no further certificate. Any other error means that a certificate is damaged.
        guard ERR_GET_REASON(TLSErrorQueue.first) == PEM_R_NO_START_LINE else {
            throw TLSFileError(path: file.path, reason: "certificate \(count + 1) in it: \(TLSErrorQueue.take())")
        }
        TLSErrorQueue.clear()
        guard let certificate = TLSCertificate(own, chainLength: count) else {
            throw TLSFileError(path: file.path, reason: "its certificate has no valid dates")
        }
        return certificate
    }

    /// Loads the key. Call this after ``useChain(of:in:)``.
    static func useKey(
        of file: TLSFile, in context: OpaquePointer, certificateFile: String
    ) throws(TLSFileError) {
        let source = try memory(file)
        defer { BIO_free(source) }
        guard let key = PEM_read_bio_PrivateKey(source, nil, { _, _, _, _ in noPassphrase }, nil) else {
            guard !file.text.contains("ENCRYPTED") else {
                TLSErrorQueue.clear()
                throw TLSFileError(path: file.path, reason: "the key is encrypted; use a key without a passphrase")
            }
            throw failure(file, "PRIVATE KEY", else: "it contains no private key in PEM")
        }
        defer { EVP_PKEY_free(key) }
        guard SSL_CTX_use_PrivateKey(context, key) == 1, SSL_CTX_check_private_key(context) == 1 else {
            TLSErrorQueue.clear()
            throw TLSFileError(
                path: file.path, reason: "the key does not belong to the certificate in \(certificateFile)")
        }
    }

    /// Returns the error for a file from which nothing could be read. The file contains nothing of that `kind`, or is
    /// damaged.
    private static func failure(_ file: TLSFile, _ kind: String, else absence: String) -> TLSFileError {
        let reasons = TLSErrorQueue.take()
        let isThere = file.text.contains("\(kind)-----")
        return TLSFileError(path: file.path, reason: isThere ? "it is damaged (\(reasons))" : absence)
    }

    private static func memory(_ file: TLSFile) throws(TLSFileError) -> OpaquePointer {
        // `BIO_write` copies the bytes. The array's own memory is valid only during the call.
        guard let source = BIO_new(BIO_s_mem()),
            file.bytes.isEmpty || BIO_write(source, file.bytes, CInt(file.bytes.count)) == file.bytes.count
        else { throw TLSFileError(path: file.path, reason: "out of memory") }
        return source
    }
}
