import COpenSSL
package import Crypto
import Wire

/// A browser's side of Web Push (RFC 8291): its keys and the decryption.
package struct WebPushReceiver: Sendable {
    package let key: P256PrivateKey
    package let secret: [UInt8]

    package init() throws {
        key = try .generate()
        secret = try RandomBytes.make(16)
    }

    /// Returns the JSON of `PushSubscription.toJSON()`.
    package func subscription(_ endpoint: String) -> TestJSON {
        [
            "endpoint": .string(endpoint), "expirationTime": nil,
            "keys": [
                "p256dh": .string(Base64.encodeForURL(key.publicPoint)), "auth": .string(Base64.encodeForURL(secret)),
            ],
        ]
    }

    /// Decrypts a message of one record.
    package func decrypt(_ body: [UInt8]) throws -> [UInt8] {
        guard body.count > 21, Array(body[16..<20]) == [0, 0, 16, 0], body[20] == 65, body.count > 86 + 16,
            body.count <= 4096
        else { throw ClientFailure.violation("a head that is none: \(body.prefix(21))") }
        let (salt, sender) = (Array(body[..<16]), try P256PublicKey(point: Array(body[21..<86])))
        let material = try HKDFSHA256.derive(
            salt: secret, keyMaterial: try key.sharedSecret(with: sender),
            info: Array("WebPush: info\0".utf8) + key.publicPoint + sender.point, byteCount: 32)
        func derive(_ info: String, _ count: Int) throws -> [UInt8] {
            try HKDFSHA256.derive(salt: salt, keyMaterial: material, info: Array(info.utf8), byteCount: count)
        }
        let padded = try open(
            Array(body[86...]), key: derive("Content-Encoding: aes128gcm\0", 16),
            nonce: derive("Content-Encoding: nonce\0", 12))
        guard let end = padded.lastIndex(where: { $0 != 0 }), padded[end] == 2 else {
            throw ClientFailure.violation("a record that isn't the last")
        }
        return Array(padded[..<end])
    }

    private func open(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) throws -> [UInt8] {
        guard let context = EVP_CIPHER_CTX_new() else { throw ClientFailure.misuse("no memory") }
        defer { EVP_CIPHER_CTX_free(context) }
        var tag = Array(sealed.suffix(16))
        let ciphertext = Array(sealed.dropLast(16))
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count)
        var (count, more): (CInt, CInt) = (0, 0)
        guard EVP_DecryptInit_ex2(context, EVP_aes_128_gcm(), key, nonce, nil) == 1,
            EVP_DecryptUpdate(context, &plaintext, &count, ciphertext, CInt(ciphertext.count)) == 1,
            EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, 16, &tag) == 1,
            EVP_DecryptFinal_ex(context, nil, &more) == 1
        else { throw ClientFailure.violation("nobody who knew the keys encrypted this") }
        return plaintext
    }
}
