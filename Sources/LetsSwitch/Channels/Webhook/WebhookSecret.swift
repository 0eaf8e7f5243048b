import Wire

/// What a webhook is signed with (Standard Webhooks): `whsec_` and 24 to 64 bytes in base64. Never printed.
package struct WebhookSecret: Sendable, Hashable, CustomStringConvertible {
    /// Signatures that one request bears, while secrets rotate.
    static let mostAtOnce = 4
    private static let prefix = "whsec_"

    let bytes: [UInt8]

    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), let bytes = Base64.decode(text.dropFirst(Self.prefix.count)),
            (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = bytes
    }

    package var description: String { "whsec_…" }
}
