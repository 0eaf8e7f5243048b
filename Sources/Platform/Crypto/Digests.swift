import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    package static let byteCount = 32

    package static func digest(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var digest = [UInt8](repeating: 0, count: byteCount)
        var count = 0
        guard EVP_Q_digest(nil, "SHA256", nil, message, message.count, &digest, &count) == 1, count == byteCount
        else { throw CryptoError("can't compute SHA-256") }
        return digest
    }
}

/// HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// Returns the 32 bytes of the authentication code. They can be computed only with the key. Any thread may call
    /// this function.
    package static func authenticate(_ message: [UInt8], key: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = 0
        let made = EVP_Q_mac(
            nil, "HMAC", nil, "SHA256", nil, key, key.count, message, message.count, &code, code.count, &count)
        guard made != nil, count == code.count else { throw CryptoError("can't compute HMAC-SHA256") }
        return code
    }
}

/// HMAC with SHA-256 with one key, for many messages. The algorithm and the key are prepared only once. Any thread may
/// use it.
package final class HMACSHA256Key: @unchecked Sendable {
    // `@unchecked Sendable` is safe because nothing changes the context after `init`. Each message uses a copy.
    private let context: OpaquePointer

    package init(_ key: [UInt8]) throws(CryptoError) {
        ERR_clear_error()
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { throw CryptoError("can't compute HMAC-SHA256") }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { throw CryptoError("can't compute HMAC-SHA256") }
        // The parameters contain pointers. The memory of a string argument would be freed after the call, but a literal
        // stays in memory.
        let name: StaticString = "digest"
        var digest = Array("SHA256".utf8CString)
        let isReady = digest.withUnsafeMutableBufferPointer { digest in
            let parameters = name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) { name in
                    [
                        OSSL_PARAM_construct_utf8_string(name.baseAddress, digest.baseAddress, 0),
                        OSSL_PARAM_construct_end(),
                    ]
                }
            }
            return EVP_MAC_init(context, key, key.count, parameters) == 1
        }
        guard isReady else {
            EVP_MAC_CTX_free(context)
            throw CryptoError("can't compute HMAC-SHA256")
        }
        self.context = context
    }

    deinit {
        EVP_MAC_CTX_free(context)
    }

    /// Returns the 32 bytes of the authentication code. They can be computed only with the key.
    package func authenticate(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        ERR_clear_error()
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        var count = 0
        guard let copy = EVP_MAC_CTX_dup(context) else { throw CryptoError("can't compute HMAC-SHA256") }
        defer { EVP_MAC_CTX_free(copy) }
        guard EVP_MAC_update(copy, message, message.count) == 1, EVP_MAC_final(copy, &code, &count, code.count) == 1,
            count == code.count
        else { throw CryptoError("can't compute HMAC-SHA256") }
        return code
    }
}

/// Derives keys from key material (RFC 5869), with SHA-256.
package enum HKDFSHA256 {
    /// The size of one block of the hash. Longer keys aren't needed.
    package static let maxByteCount = SHA256.byteCount

    /// Extracts and expands key material to `byteCount` bytes, at most ``maxByteCount``.
    package static func derive(
        salt: [UInt8], keyMaterial: [UInt8], info: [UInt8], byteCount: Int
    ) throws(CryptoError) -> [UInt8] {
        let key = try HMACSHA256.authenticate(keyMaterial, key: salt)
        let block = try HMACSHA256.authenticate(info + [1], key: key)
        return Array(block.prefix(byteCount))
    }
}
