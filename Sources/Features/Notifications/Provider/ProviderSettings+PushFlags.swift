import Features

/// The settings of Apple's and browsers' push services.
extension ProviderSettings {
    static let apnsFlags: [Setting<ProviderSettings>] = [
        .providerFile(
            "apns-key", \.apns.keyFile, "signing key for Apple's push notifications: AuthKey_….p8"
        ).mayBeCredential,
        .identifier("apns-key-id", \.apns.keyId, placeholder: "ID", "identifier of the key: ten characters"),
        .identifier(
            "apns-team-id", \.apns.teamId, placeholder: "ID", "identifier of the team: ten characters"),
        .text(
            "apns-topic", .providers, placeholder: "BUNDLE", default: "none", "bundle identifier of the app"
        ) { settings, value throws(InvalidValue) in
            guard (1...255).contains(value.utf8.count),
                value.utf8.allSatisfy({ isAlphanumeric($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") })
            else { throw InvalidValue(value, "must be a bundle identifier like com.example.App") }
            settings.apns.topic = value
        },
        .text(
            "apns-url", .providers, placeholder: "URL", default: "Apple's",
            "server to use instead of Apple's, for tests"
        ) { settings, value throws(InvalidValue) in
            settings.apns.url = try baseURL(value)
        },
        .providerFile(
            "apns-ca", \.apns.caFile, "certificate authorities to trust instead of the system's, in PEM"),
    ]

    static let webPushFlags: [Setting<ProviderSettings>] = [
        .text(
            "web-push-contact", .providers, placeholder: "URL", default: "none",
            "contact for push services: mailto:ops@example.org or an https URL; switches Web Push on"
        ) { settings, value throws(InvalidValue) in
            guard isContact(value) else {
                throw InvalidValue(value, "must be an address like mailto:ops@example.org, or an https URL")
            }
            settings.webPush.contact = value
        },
        .boolean(
            "web-push-private", \.webPush.allowsPrivateAddresses, .providers,
            "allows push services in private networks and by http"),
        .providerFile(
            "web-push-ca", \.webPush.caFile,
            "certificate authorities to trust instead of the system's, in PEM"),
    ]

    /// Returns whether the text is a contact as RFC 8292 §2.1 defines it. The limit of 256 bytes keeps the header
    /// short.
    private static func isContact(_ text: String) -> Bool {
        guard text.utf8.count <= 256, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return false }
        if text.hasPrefix("mailto:") {
            let parts = text.dropFirst(7).split(separator: "@", omittingEmptySubsequences: false)
            return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
        }
        return ProviderURL(text)?.scheme == "https"
    }

    fileprivate static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

extension Setting<ProviderSettings> {
    /// Returns the setting of an identifier in Apple's format.
    fileprivate static func identifier(
        _ name: String, _ field: Field<String?>, placeholder: String, _ help: String
    ) -> Setting {
        text(name, .providers, placeholder: placeholder, default: "none", help) {
            settings, value throws(InvalidValue) in
            guard value.utf8.count == 10, value.utf8.allSatisfy(ProviderSettings.isAlphanumeric) else {
                throw InvalidValue(value, "must have ten characters, all letters or digits")
            }
            settings[keyPath: field] = value
        }
    }
}
