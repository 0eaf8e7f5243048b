/// `--ticket-secret` and `--require-tickets`.
package struct TicketSettings: Sendable, Equatable {
    /// What tickets are signed with: the first makes new ones, all are believed. Without any there are no tickets.
    package var secrets: [TicketSecret] = []
    /// Whether a device that is named in plain text counts for nothing.
    package var areRequired = false

    package init() {}
}

/// A line of text that those who make tickets share with us. Never printed.
package struct TicketSecret: Sendable, Hashable, CustomStringConvertible {
    /// While one replaces the other.
    package static let mostAtOnce = 2
    /// RFC 7518 §3.2: as long as the code that is made with it.
    package static let minimumBytes = 32
    package static let maximumBytes = 1_024

    let bytes: [UInt8]

    /// `nil` when it is too short, too long, or no line of text.
    package init?(_ line: some StringProtocol) {
        let scalars = line.unicodeScalars
        // What is no UTF-8 has become U+FFFD on the way here, and would be another secret than its file's.
        guard (Self.minimumBytes...Self.maximumBytes).contains(line.utf8.count),
            !scalars.contains(where: { $0.properties.generalCategory == .control || $0 == "\u{FFFD}" })
        else { return nil }
        bytes = Array(line.utf8)
    }

    package var description: String { "…" }
}
