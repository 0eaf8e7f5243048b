import Crypto
import Domain
import Wire

/// A browser's subscription, as `PushSubscription.toJSON()` writes it, and as it is stored.
package struct WebPushSubscription: Sendable {
    /// One for each of a device's browsers.
    package static let mostPerDevice = 10

    /// The target of messages. A secret: anyone who knows it may send.
    package let endpoint: String
    let keys: WebPushKeys

    /// The data stored with the endpoint.
    package var details: String {
        var json = JSONText()
        json.object { object in
            object.member("p256dh", Base64.encodeForURL(keys.publicKey.point))
            object.member("auth", Base64.encodeForURL(keys.secret))
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension WebPushSubscription: Decodable {
    /// Further members are ignored, such as `expirationTime`, which push services handle themselves.
    package init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        endpoint = try members.text("endpoint")
        guard let url = ProviderURL(endpoint), !url.hasCredentials, !endpoint.contains("#") else {
            throw RequestError.invalid(
                "subscription.endpoint", "must be an https URL of at most \(ProviderURL.maximumBytes) bytes")
        }
        keys = try members.member("keys", WebPushKeys.self)
    }
}

extension WebPushKeys: Decodable {
    init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        guard let point = Base64.decode(try members.text("p256dh")), let publicKey = try? P256PublicKey(point: point)
        else {
            throw RequestError.invalid("subscription.keys.p256dh", "must be a point of the curve P-256 in base64url")
        }
        guard let secret = Base64.decode(try members.text("auth")), secret.count == Self.secretByteCount else {
            throw RequestError.invalid(
                "subscription.keys.auth", "must be \(Self.secretByteCount) bytes in base64url")
        }
        self.publicKey = publicKey
        self.secret = secret
    }
}

/// The browser's keys for encryption (RFC 8291 §2). Only the browser can decrypt.
struct WebPushKeys: Sendable {
    static let secretByteCount = 16
    /// The maximum number of plaintext bytes of a message.
    static let maxPlaintextBytes = EncryptedContent.maxPlaintextBytes(keyNameByteCount: P256PublicKey.byteCount)

    /// `p256dh`.
    let publicKey: P256PublicKey
    /// `auth`: 16 bytes.
    let secret: [UInt8]

    /// Returns a message's encrypted body for this subscription (RFC 8291 §3).
    ///
    /// - Parameters:
    /// - sender: A key used for this message only.
    /// - salt: ``EncryptedContent/saltByteCount`` random bytes.
    func encrypt(_ plaintext: [UInt8], sender: P256PrivateKey, salt: [UInt8]) throws(CryptoError) -> [UInt8] {
        let material = try HKDFSHA256.derive(
            salt: secret, keyMaterial: try sender.sharedSecret(with: publicKey),
            info: Array("WebPush: info\0".utf8) + publicKey.point + sender.publicPoint, byteCount: 32)
        return try EncryptedContent.encode(
            plaintext, keyMaterial: material, keyName: sender.publicPoint, salt: salt)
    }

    /// Encrypts with a new key and salt.
    func encrypt(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
        try encrypt(
            plaintext, sender: .generate(), salt: RandomBytes.make(EncryptedContent.saltByteCount))
    }
}
