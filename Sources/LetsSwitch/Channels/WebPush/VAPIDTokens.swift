import Crypto

/// The tokens of one key, one for each push service, made anew when they are old. A value: time is an argument, in epoch seconds.
struct VAPIDTokens: Sendable {
    /// There are a handful of push services; anybody may name others.
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
