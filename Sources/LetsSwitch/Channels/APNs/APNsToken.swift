import Crypto
import Wire

/// The provider's token that goes with every request, and when it is made anew. A value: time is an argument, in epoch seconds.
///
/// Apple wants it neither older than an hour nor made more often than each 20 minutes.
struct APNsToken: Sendable {
    static let renewedAfter = 40 * 60
    /// A token younger than this isn't replaced, though Apple says that it has expired: our clock is wrong then, and another would
    /// be no better.
    static let leastAge = 20 * 60

    private let credentials: APNsCredentials
    private var current: (text: String, issuedAt: Int)?

    init(_ credentials: APNsCredentials) {
        self.credentials = credentials
    }

    /// The token of now. A clock that was put back makes a new one too.
    mutating func text(at now: Int) throws(CryptoError) -> String {
        if let current, now >= current.issuedAt, now - current.issuedAt < Self.renewedAfter { return current.text }
        var header = JSONText()
        header.object { object in
            object.member("alg", "ES256")
            object.member("kid", credentials.keyId)
        }
        var claims = JSONText()
        claims.object { object in
            object.member("iss", credentials.teamId)
            object.name("iat")
            object.number(now)
        }
        let token = try JSONWebToken(header: header.bytes, claims: claims.bytes, key: credentials.key)
        current = (token.text, now)
        return token.text
    }

    /// Apple has said that `text` has expired. Of the many requests that hear it the first has it replaced.
    ///
    /// - Returns: Whether there is, or will be, another to try with.
    mutating func hasExpired(_ text: String, at now: Int) -> Bool {
        guard let current, current.text == text else { return true }
        guard now < current.issuedAt || now - current.issuedAt >= Self.leastAge else { return false }
        self.current = nil
        return true
    }
}
