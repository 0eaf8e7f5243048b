package import Features

extension ProviderSettings {
    /// Checks settings that depend on each other.
    ///
    /// - Throws: ``SettingConflict`` that names the flags.
    package func checkCombinations() throws(SettingConflict) {
        switch (webhook.url, webhook.secrets.isEmpty) {
        case (.some, true): throw SettingConflict("--webhook-url: --webhook-secret is missing")
        case (nil, false): throw SettingConflict("--webhook-secret: --webhook-url is missing")
        default: break
        }
        if ntfy.token != nil, ntfy.server == nil { throw SettingConflict("--ntfy-token: --ntfy-server is missing") }
        try apns.check()
    }

    /// Warnings about settings that are valid, but that a provider's server would refuse.
    package var warnings: [String] { [webPush.contactWarning].compactMap(\.self) }
}

extension WebPushSettings {
    /// The last labels of host names that can't be reached from outside (RFC 2606, RFC 6761, RFC 6762).
    private static let reservedLabels: Set = [
        "example", "internal", "invalid", "local", "localdomain", "localhost", "test",
    ]

    /// A warning about a contact that push services refuse. Apple, for example, answers `BadJwtToken`.
    fileprivate var contactWarning: String? {
        guard let contact, let host = Self.host(of: contact) else { return nil }
        let labels = host.split(separator: ".")
        guard labels.count < 2 || labels.last.map({ Self.reservedLabels.contains(String($0)) }) == true else {
            return nil
        }
        return """
            --web-push-contact: push services such as Apple's refuse \(contact), because \(host) is no public domain. \
            Use an address in your own domain.
            """
    }

    /// Returns the host of a `mailto:` address or a URL, in lowercase. Returns `nil` for an IPv6 address.
    private static func host(of contact: String) -> String? {
        let host = ProviderURL(contact)?.host ?? contact.lowercased().split(separator: "@").last.map { String($0) }
        return host.flatMap { $0.hasPrefix("[") ? nil : $0 }
    }
}

extension APNsSettings {
    /// Checks that the flags of APNs are complete.
    ///
    /// - Throws: ``SettingConflict`` that names the missing flag.
    fileprivate func check() throws(SettingConflict) {
        let parts = [
            ("--apns-key", keyFile), ("--apns-key-id", keyId), ("--apns-team-id", teamId), ("--apns-topic", topic),
        ]
        guard let given = parts.first(where: { $0.1 != nil }) else { return }
        if let missing = parts.first(where: { $0.1 == nil }) {
            throw SettingConflict("\(given.0): \(missing.0) is missing")
        }
    }
}
