import Delivery

extension ProviderSettings {
    /// Checks the settings that depend on each other.
    ///
    /// - Throws: ``UsageError`` that names the flags.
    func checkCombinations() throws(UsageError) {
        switch (webhook.url, webhook.secrets.isEmpty) {
        case (.some, true): throw UsageError("--webhook-url: --webhook-secret is missing")
        case (nil, false): throw UsageError("--webhook-secret: --webhook-url is missing")
        default: break
        }
        if ntfy.token != nil, ntfy.server == nil { throw UsageError("--ntfy-token: --ntfy-server is missing") }
        try apns.check()
    }
}

extension APNsSettings {
    /// - Throws: ``UsageError`` that names the missing flag.
    fileprivate func check() throws(UsageError) {
        let parts = [
            ("--apns-key", keyFile), ("--apns-key-id", keyId), ("--apns-team-id", teamId), ("--apns-topic", topic),
        ]
        guard let given = parts.first(where: { $0.1 != nil }) else { return }
        if let missing = parts.first(where: { $0.1 == nil }) {
            throw UsageError("\(given.0): \(missing.0) is missing")
        }
    }
}
