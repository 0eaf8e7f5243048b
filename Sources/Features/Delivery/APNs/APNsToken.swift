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

/// The one token of all requests.
actor APNsTokenCache {
    private var token: APNsToken
    /// Epoch seconds.
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

/// What a provider proves itself to Apple with.
struct APNsCredentials: Sendable {
    let keyId: String
    let teamId: String
    let topic: String
    let key: P256PrivateKey
}

extension APNsCredentials {
    /// Reads the key's file. Blocks for as long as that takes.
    ///
    /// - Returns: nil when the provider isn't configured.
    /// - Throws: ``APNsKeyError`` when the file can't be read, or holds no such key.
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

/// `--apns-key` names no key that could be used.
package struct APNsKeyError: Error, Sendable, Equatable, CustomStringConvertible {
    let file: String
    let reason: String

    package var description: String { "--apns-key \(file): \(reason)" }
}
