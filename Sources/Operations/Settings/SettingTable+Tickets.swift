import Access
import Domain
import Features

/// The settings about tickets.
extension SettingTable {
    static let tickets: [Setting<Configuration>] = [
        .text(
            "ticket-secret", .tickets, placeholder: "SECRET", default: "none",
            "secret that signs tickets: a line of at least 32 bytes; two lines during a rotation"
        ) { configuration, value throws(InvalidValue) in
            configuration.tickets.secrets = try ticketSecrets(value)
        }.allowedInFile,
        .boolean(
            "require-tickets", \.tickets.areRequired, .tickets,
            "requires a ticket for questions, conversations and Action Cable: a deviceId is not enough"),
    ]

    private static func ticketSecrets(_ text: String) throws(InvalidValue) -> [TicketSecret] {
        var secrets: [TicketSecret] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
            guard !line.isEmpty else { continue }
            guard let secret = TicketSecret(String(line)) else {
                throw InvalidValue(
                    secret:
                        "a secret must be a line of \(TicketSecret.minimumBytes) to \(TicketSecret.maximumBytes) bytes")
            }
            secrets.append(secret)
        }
        guard !secrets.isEmpty, secrets.count <= TicketSecret.mostAtOnce else {
            throw InvalidValue(secret: "must have 1 to \(TicketSecret.mostAtOnce) secrets, one per line")
        }
        return secrets
    }
}
