import Crypto

/// The key that identifies this server to push services. The first daemon that needs the key generates it. The key is
/// stored in the database, because browsers' subscriptions are valid only with this key.
package actor VAPIDKeyStore {
    /// The key's name in the table of secrets.
    private static let secretName = "vapid"

    private let contact: String
    /// Returns the secret with this name. Stores the candidate first if there is none.
    private let secret: @Sendable (String, [UInt8]) async throws -> [UInt8]
    /// Returns the system's clock in epoch seconds.
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

    /// Returns the browser's `applicationServerKey`: 65 bytes. Throws while the database is unavailable.
    package func publicPoint() async throws -> [UInt8] {
        try await load().key.publicPoint
    }

    /// Returns the value of `Authorization`. Throws while the database is unavailable.
    func authorization(for audience: String) async throws -> String {
        var tokens = try await load()
        let authorization = try tokens.authorization(for: audience, at: now())
        self.tokens = tokens
        return authorization
    }

    private func load() async throws -> VAPIDTokenCache {
        if let tokens { return tokens }
        let scalar = try await secret(Self.secretName, try P256PrivateKey.generate().scalar())
        // Another call may have loaded the key while this one read the secret.
        if let tokens { return tokens }
        let loaded = VAPIDTokenCache(key: try P256PrivateKey(scalar: scalar), contact: contact)
        tokens = loaded
        return loaded
    }
}
