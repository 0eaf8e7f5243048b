import Crypto
import Wire

/// The provider token that all requests carry. A value type: time is an argument, in epoch seconds.
///
/// Apple requires a token younger than an hour, and accepts a new one at most every 20 minutes.
struct APNsToken: Sendable {
    static let renewedAfter = 40 * 60
    /// The minimum age in seconds at which an expired token is replaced. If Apple reports a younger token as expired,
    /// this machine's clock is wrong, and a new token would be no better.
    static let leastAge = 20 * 60

    private let credentials: APNsCredentials
    private var current: (text: String, issuedAt: Int)?

    init(_ credentials: APNsCredentials) {
        self.credentials = credentials
    }

    /// Returns the current token. Creates a new one if it is too old, or if the clock was set back.
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

    /// Handles Apple's report that `text` has expired. If several requests report it, the first one discards the token.
    ///
    /// - Returns: Whether a new token can be tried.
    mutating func hasExpired(_ text: String, at now: Int) -> Bool {
        guard let current, current.text == text else { return true }
        guard now < current.issuedAt || now - current.issuedAt >= Self.leastAge else { return false }
        self.current = nil
        return true
    }
}

/// The shared token of all requests.
actor APNsTokenCache {
    private var token: APNsToken
    /// Returns the system's clock in epoch seconds.
    private let now: @Sendable () -> Int

    init(_ credentials: APNsCredentials, now: @escaping @Sendable () -> Int) {
        token = APNsToken(credentials)
        self.now = now
    }

    func text() throws(CryptoError) -> String {
        try token.text(at: now())
    }

    /// See ``APNsToken/hasExpired(_:at:)``.
    func hasExpired(_ text: String) -> Bool {
        token.hasExpired(text, at: now())
    }
}

/// The provider's credentials for Apple.
struct APNsCredentials: Sendable {
    let keyId: String
    let teamId: String
    let topic: String
    let key: P256PrivateKey
}

extension APNsCredentials {
    /// Reads the key file. Blocks the thread.
    ///
    /// - Returns: `nil` if the provider isn't configured.
    /// - Throws: ``APNsKeyError`` if the file can't be read or contains no such key.
    init?(_ settings: APNsSettings) throws(APNsKeyError) {
        guard let file = settings.keyFile, let keyId = settings.keyId, let teamId = settings.teamId,
            let topic = settings.topic
        else { return nil }
        let key: P256PrivateKey
        do {
            key = try P256PrivateKey(pem: Array(try SecretFile.read(file).utf8) + [UInt8(ascii: "\n")])
        } catch {
            throw APNsKeyError(file: file, reason: "\(error)")
        }
        self.init(keyId: keyId, teamId: teamId, topic: topic, key: key)
    }
}

/// The error for an unusable `--apns-key`.
package struct APNsKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    let file: String
    let reason: String

    package var description: String { "--apns-key \(file): \(reason)" }
}
