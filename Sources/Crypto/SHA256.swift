import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    package static let byteCount = 32

    package static func digest(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var digest = [UInt8](repeating: 0, count: byteCount)
        var count = 0
        guard EVP_Q_digest(nil, "SHA256", nil, message, message.count, &digest, &count) == 1, count == byteCount
        else { throw CryptoError("SHA-256") }
        return digest
    }
}
