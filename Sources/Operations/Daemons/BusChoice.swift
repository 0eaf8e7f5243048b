/// The carrier of ales and presence between daemons on one database, chosen by `--bus`. Reminders use the database in
/// any case.
package enum BusChoice: String, Sendable, Hashable, CaseIterable {
    /// PostgreSQL's NOTIFY while another daemon is alive on the database. No bus otherwise.
    case automatic = "auto"
    /// Always PostgreSQL's NOTIFY.
    case postgresql
    /// RabbitMQ at ``Configuration/amqpURL``.
    case amqp
    case none

    /// The name that daemons compare. Two daemons with the same name reach each other.
    package var busName: String {
        switch self {
        case .automatic, .postgresql: "postgresql"
        case .amqp: "amqp"
        case .none: "none"
        }
    }
}
