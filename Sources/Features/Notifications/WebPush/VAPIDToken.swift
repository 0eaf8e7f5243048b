import Crypto
import Wire

/// The sender's token for a push service (RFC 8292): the value of `Authorization`.
struct VAPIDToken: Sendable, Hashable {
    /// The lifetime of a token in seconds. RFC 8292 §2 allows 24 hours. Half of that tolerates wrong clocks.
    static let lifetime = 12 * 3600
    static let renewedAfter = 6 * 3600

    let authorization: String

    /// - Parameters:
    ///   - audience: The push service's origin, such as `https://push.example.net`.
    ///   - contact: `mailto:…` or `https:…`.
    ///   - expiry: Epoch seconds.
    init(audience: String, contact: String, expiry: Int, key: P256PrivateKey) throws(CryptoError) {
        var claims = JSONText()
        claims.object { object in
            object.member("aud", audience)
            object.name("exp")
            object.number(expiry)
            object.member("sub", contact)
        }
        let token = try JSONWebToken(
            header: Array(#"{"typ":"JWT","alg":"ES256"}"#.utf8), claims: claims.bytes, key: key)
        authorization = "vapid t=\(token.text), k=\(Base64.encodeForURL(key.publicPoint))"
    }
}

/// The tokens of one key: one for each push service. Old tokens are renewed. A value type: time is an argument, in
/// epoch seconds.
struct VAPIDTokenCache: Sendable {
    /// The maximum number of tokens. There are only a few push services, but users may name others.
    static let most = 1000

    let key: P256PrivateKey
    private let contact: String
    private var tokens: [String: (token: VAPIDToken, madeAt: Int)] = [:]

    init(key: P256PrivateKey, contact: String) {
        self.key = key
        self.contact = contact
    }

    mutating func authorization(for audience: String, at now: Int) throws(CryptoError) -> String {
        if let known = tokens[audience], now >= known.madeAt, now - known.madeAt < VAPIDToken.renewedAfter {
            return known.token.authorization
        }
        if tokens.count >= Self.most { tokens = [:] }
        let token = try VAPIDToken(
            audience: audience, contact: contact, expiry: now + VAPIDToken.lifetime, key: key)
        tokens[audience] = (token, now)
        return token.authorization
    }
}
