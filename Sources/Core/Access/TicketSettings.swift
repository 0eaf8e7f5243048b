/// The settings `--ticket-secret` and `--require-tickets`.
package struct TicketSettings: Sendable, Equatable {
    /// The secrets of tickets. The first one signs new tickets, and tickets of all secrets are accepted. Without a
    /// secret there are no tickets.
    package var secrets: [TicketSecret] = []
    /// Whether a request that names its device in plain text is refused.
    package var areRequired = false

    package init() {}
}

/// A line of text shared with the authors of tickets. Never printed.
package struct TicketSecret: Sendable, Hashable, CustomStringConvertible {
    /// Two secrets are needed while one replaces the other.
    package static let mostAtOnce = 2
    /// The minimum length in bytes: the length of the HMAC that the secret is used for (RFC 7518 §3.2).
    package static let minimumBytes = 32
    package static let maximumBytes = 1_024

    let bytes: [UInt8]

    /// Returns `nil` if the line is too short or too long, or if it isn't a line of text.
    package init?(_ line: some StringProtocol) {
        let scalars = line.unicodeScalars
        // U+FFFD has replaced invalid UTF-8. A secret with U+FFFD would differ from the bytes in the file.
        guard (Self.minimumBytes...Self.maximumBytes).contains(line.utf8.count),
            !scalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\u{FFFD}" })
        else { return nil }
        bytes = Array(line.utf8)
    }

    package var description: String { "…" }
}
