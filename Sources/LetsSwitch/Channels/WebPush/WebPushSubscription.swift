import Crypto
import Domain
import Wire

/// A browser's subscription: as `PushSubscription.toJSON()` writes it, and as it is kept.
struct WebPushSubscription: Sendable {
    /// A device has one for each of its browsers.
    static let mostPerDevice = 10

    /// Where messages go. A secret: whoever knows it may send.
    let endpoint: String
    let keys: WebPushKeys

    /// What is kept beside the endpoint.
    var details: String {
        var json = JSONText()
        json.object { object in
            object.member("p256dh", Base64.encodeForURL(keys.publicKey.point))
            object.member("auth", Base64.encodeForURL(keys.secret))
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension WebPushSubscription: Decodable {
    /// Browsers write more (`expirationTime`, which push services see to themselves); it is ignored.
    init(from decoder: any Decoder) throws {
        let members = try RequestFields(decoder)
        endpoint = try members.text("endpoint")
        guard let url = ChannelURL(endpoint), !url.hasCredentials, !endpoint.contains("#") else {
            throw RequestError.invalid(
                "subscription.endpoint", "must be an https URL of \(ChannelURL.maximumBytes) bytes at most")
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
