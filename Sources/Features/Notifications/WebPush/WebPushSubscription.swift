import Crypto
import Domain
import Wire

/// A browser's subscription, in the JSON form of `PushSubscription.toJSON()`.
package struct WebPushSubscription: Sendable {
    /// The maximum number of subscriptions of a device: one for each of its browsers.
    package static let mostPerDevice = 10

    /// The URL that messages are posted to. It is a secret, because anyone who knows it may send.
    package let endpoint: String
    let keys: WebPushKeys

    /// The data that is stored with the endpoint.
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
    /// Reads a subscription. Ignores other fields, such as `expirationTime`, which push services handle themselves.
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

/// The browser's keys for encryption (RFC 8291 §2). Only the browser can decrypt a message.
struct WebPushKeys: Sendable {
    static let secretByteCount = 16
    /// The maximum size of a message's plaintext, in bytes.
    static let maxPlaintextBytes = EncryptedContent.maxPlaintextBytes(keyNameByteCount: P256PublicKey.byteCount)

    /// The browser's public key, called `p256dh`.
    let publicKey: P256PublicKey
    /// The authentication secret, called `auth`: 16 bytes.
    let secret: [UInt8]

    /// Returns a message's encrypted body for this subscription (RFC 8291 §3).
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

    /// Encrypts a message with a new key and salt.
    func encrypt(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
        try encrypt(
            plaintext, sender: .generate(), salt: RandomBytes.make(EncryptedContent.saltByteCount))
    }
}
