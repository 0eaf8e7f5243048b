import Crypto

/// The key by which push services know this server. Whichever daemon needs it first makes it; it is kept in the database, because
/// browsers' subscriptions hold for this one only.
package actor VAPIDKeyStore {
    /// Its name among the secrets.
    private static let secretName = "vapid"

    private let contact: String
    /// The secret of this name: the candidate when there was none.
    private let secret: @Sendable (String, [UInt8]) async throws -> [UInt8]
    /// Epoch seconds.
    private let now: @Sendable () -> Int
    private var tokens: VAPIDTokenCache?

    package init(
        contact: String, now: @escaping @Sendable () -> Int,
        secret: @escaping @Sendable (String, [UInt8]) async throws -> [UInt8]
    ) {
        self.contact = contact
        self.now = now
        self.secret = secret
    }

    /// For the browser's `applicationServerKey`: 65 bytes. Throws while the database is away.
    package func publicPoint() async throws -> [UInt8] {
        try await load().key.publicPoint
    }

    /// The value of `Authorization`. Throws while the database is away.
    func authorization(for audience: String) async throws -> String {
        var tokens = try await load()
        let authorization = try tokens.authorization(for: audience, at: now())
        self.tokens = tokens
        return authorization
    }

    private func load() async throws -> VAPIDTokenCache {
        if let tokens { return tokens }
        let scalar = try await secret(Self.secretName, try P256PrivateKey.generate().scalar())
        // Somebody else may have asked meanwhile.
        if let tokens { return tokens }
        let loaded = VAPIDTokenCache(key: try P256PrivateKey(scalar: scalar), contact: contact)
        tokens = loaded
        return loaded
    }
}
