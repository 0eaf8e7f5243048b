/// What carries ales and presence between the daemons that share a database, as `--bus` names it. Reminders cross by the database,
/// whatever the bus.
package enum BusChoice: String, Sendable, Hashable, CaseIterable {
    /// PostgreSQL's NOTIFY while another daemon is alive on the database, else nothing.
    case automatic = "auto"
    /// PostgreSQL's NOTIFY, always.
    case postgresql
    /// RabbitMQ, at ``Configuration/amqpURL``.
    case amqp
    case none

    /// By what name daemons compare their buses: two that have the same hear each other.
    package var busName: String {
        switch self {
        case .automatic, .postgresql: "postgresql"
        case .amqp: "amqp"
        case .none: "none"
        }
    }
}
