import Crypto
import Wire

/// What tells a push service who sends (RFC 8292): the value of `Authorization`.
struct VAPIDToken: Sendable, Hashable {
    /// §2: at most 24 hours. Half of that leaves room for clocks that are wrong.
    static let lifetime = 12 * 3600
    static let renewedAfter = 6 * 3600

    let authorization: String

    /// - Parameters:
    ///   - audience: The push service's origin: `https://push.example.net`.
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
