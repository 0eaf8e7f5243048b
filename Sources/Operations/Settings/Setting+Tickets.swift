import Access
import Domain

/// The settings about tickets.
extension Setting {
    static let tickets: [Setting] = [
        text(
            "ticket-secret", .tickets, placeholder: "SECRET", default: "none",
            "what tickets are signed with: a line of 32 bytes or more; two lines while they rotate"
        ) { configuration, value throws(InvalidValue) in
            configuration.tickets.secrets = try ticketSecrets(value)
        }.mayStandInFile,
        boolean(
            "require-tickets", \.tickets.areRequired, .tickets,
            "a deviceId alone is not enough for questions, conversations and Action Cable"),
    ]

    private static func ticketSecrets(_ text: String) throws(InvalidValue) -> [TicketSecret] {
        var secrets: [TicketSecret] = []
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
            guard !line.isEmpty else { continue }
            guard let secret = TicketSecret(String(line)) else {
                throw InvalidValue(
                    secret: "a secret is a line of text, of \(TicketSecret.minimumBytes) bytes at least, "
                        + "\(TicketSecret.maximumBytes) at most")
            }
            secrets.append(secret)
        }
        guard !secrets.isEmpty, secrets.count <= TicketSecret.mostAtOnce else {
            throw InvalidValue(secret: "one secret is wanted, or \(TicketSecret.mostAtOnce) lines at most")
        }
        return secrets
    }
}
