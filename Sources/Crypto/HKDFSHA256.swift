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
