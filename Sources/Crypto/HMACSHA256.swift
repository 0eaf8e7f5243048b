import COpenSSL

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// 32 bytes that only who has the key can make of the message. Any thread.
    package static func authenticate(_ message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = 0
        let made = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
        guard made != nil, count == code.count else { throw CryptoError("HMAC-SHA256") }
        return code
    }
}
