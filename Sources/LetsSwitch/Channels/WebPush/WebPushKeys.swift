import Crypto

/// What a browser's subscription brings for encryption (RFC 8291 §2): what only it can decrypt.
struct WebPushKeys: Sendable {
    static let secretByteCount = 16
    /// Bytes of plaintext in one message.
    static let maxPlaintextBytes = EncryptedContent.maxPlaintextBytes(keyNameByteCount: P256PublicKey.byteCount)

    /// `p256dh`.
    let publicKey: P256PublicKey
    /// `auth`: 16 bytes.
    let secret: [UInt8]

    /// A message's body for this subscription (RFC 8291 §3).
    ///
    /// - Parameters:
    ///   - sender: A key that is used for this message only.
    ///   - salt: ``EncryptedContent/saltByteCount`` random bytes.
    func encrypt(_ plaintext: [UInt8], sender: P256PrivateKey, salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        let material = try HKDFSHA256.derive(
            salt: secret, keyMaterial: try sender.sharedSecret(with: publicKey),
            info: Array("WebPush: info\0".utf8) + publicKey.point + sender.publicPoint, byteCount: 32)
        return try EncryptedContent.encode(
            plaintext, keyMaterial: material, keyName: sender.publicPoint, salt: salt)
    }

    /// The same with a new key and salt.
    func encrypt(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
        try encrypt(
            plaintext, sender: .generate(), salt: RandomBytes.make(EncryptedContent.saltByteCount))
    }
}
