/// The settings `--ticket-secret` and `--require-tickets`.
package struct TicketSettings: Sendable, Equatable {
    /// The secrets of tickets: the first signs new ones, all are accepted. Without a secret there are no tickets.
    package var secrets: [TicketSecret] = []
    /// Whether a device in plain text is refused.
    package var areRequired = false

    package init() {}
}

/// A line of text shared with the authors of tickets. Never printed.
package struct TicketSecret: Sendable, Hashable, CustomStringConvertible {
    /// Two secrets are needed while one replaces the other.
    package static let mostAtOnce = 2
    /// The minimum length: that of the HMAC made with the secret (RFC 7518 §3.2).
    package static let minimumBytes = 32
    package static let maximumBytes = 1_024

    let bytes: [UInt8]

    /// `nil` if it is too short, too long, or not a line of text.
    package init?(_ line: some StringProtocol) {
        let scalars = line.unicodeScalars
        // Invalid UTF-8 has been replaced by U+FFFD, which would make another secret than the file's.
        guard (Self.minimumBytes...Self.maximumBytes).contains(line.utf8.count),
            !scalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\u{FFFD}" })
        else { return nil }
        bytes = Array(line.utf8)
    }

    package var description: String { "…" }
}
