/// `--apns-…`.
package struct APNsSettings: Sendable, Equatable {
    /// The provider's signing key, as Apple hands it out (`AuthKey_….p8`). On when it is given.
    package var keyFile: String?
    /// The key's identifier: ten characters.
    package var keyId: String?
    /// The developer team's: ten characters.
    package var teamId: String?
    /// The app's bundle identifier.
    package var topic: String?
    /// Instead of Apple's two hosts.
    package var url: String?
    /// Whom to trust instead of the system's authorities: a file in PEM.
    package var caFile: String?

    /// - Throws: ``UsageError`` naming the flag that is missing.
    func check() throws(UsageError) {
        let parts = [
            ("--apns-key", keyFile), ("--apns-key-id", keyId), ("--apns-team-id", teamId), ("--apns-topic", topic),
        ]
        guard let given = parts.first(where: { $0.1 != nil }) else { return }
        if let missing = parts.first(where: { $0.1 == nil }) {
            throw UsageError("\(given.0): \(missing.0) is missing")
        }
    }
}
