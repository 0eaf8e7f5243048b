import Crypto

/// The content coding `aes128gcm` (RFC 8188) with one record.
enum EncryptedContent {
    static let saltByteCount = 16
    /// The maximum size in bytes of the encoded content, and the record size. Push services must accept this size, and
    /// most accept no more (RFC 8030 §7.2).
    static let maxBytes = 4096
    /// The number of bytes of the header: salt, record size, and the length of the key's name.
    private static let headerByteCount = saltByteCount + 4 + 1
    /// The byte after the plaintext of the last record (§2).
    private static let lastRecordDelimiter: UInt8 = 2

    /// Returns the number of plaintext bytes that fit into ``maxBytes``.
    static func maxPlaintextBytes(keyNameByteCount: Int) -> Int {
        maxBytes - headerByteCount - keyNameByteCount - 1 - AES128GCM.tagByteCount
    }

    /// Returns the encoded content.
    ///
    /// - Parameters:
    ///   - keyMaterial: The shared secret from which the keys are derived (§2.2, §2.3).
    ///   - keyName: The name of the key, at most 255 bytes.
    ///   - salt: ``saltByteCount`` bytes that were never used before with this secret.
    static func encode(
        _ plaintext: [UInt8], keyMaterial: [UInt8], keyName: [UInt8], salt: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let key = try HKDFSHA256.derive(
            salt: salt, keyMaterial: keyMaterial, info: Array("Content-Encoding: aes128gcm\0".utf8),
            byteCount: AES128GCM.keyByteCount)
        // The nonce is XORed with the record's sequence number. The nonce stays unchanged, because the number of the
        // first record is 0.
        let nonce = try HKDFSHA256.derive(
            salt: salt, keyMaterial: keyMaterial, info: Array("Content-Encoding: nonce\0".utf8),
            byteCount: AES128GCM.nonceByteCount)
        let recordSize = UInt32(maxBytes)
        let header =
            salt + (0..<4).map { UInt8(truncatingIfNeeded: recordSize >> (24 - 8 * $0)) }
            + [UInt8(truncatingIfNeeded: keyName.count)] + keyName
        return try header + AES128GCM.seal(plaintext + [lastRecordDelimiter], key: key, nonce: nonce)
    }
}
