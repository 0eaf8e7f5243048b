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

/// Keys made of key material (RFC 5869), with SHA-256.
package enum HKDFSHA256 {
    /// Of one block, which is all that is asked for here.
    package static let maxByteCount = SHA256.byteCount

    /// Extracts and expands: `byteCount` bytes, at most ``maxByteCount``.
    package static func derive(
        salt: [UInt8], keyMaterial: [UInt8], info: [UInt8], byteCount: Int
    ) throws(CryptoError) -> [UInt8] {
        let key = try HMACSHA256.authenticate(keyMaterial, key: salt)
        let block = try HMACSHA256.authenticate(info + [1], key: key)
        return Array(block.prefix(byteCount))
    }
}
