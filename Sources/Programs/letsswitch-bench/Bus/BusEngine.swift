/// The service that carries ales from one daemon to the others: PostgreSQL or RabbitMQ.
enum BusEngine {
    case notify
    case broker(Broker)

    /// The prefix of the rows' ids.
    var id: String {
        switch self {
        case .notify: "cross"
        case .broker: "amqp"
        }
    }

    var name: String {
        switch self {
        case .notify: "NOTIFY"
        case .broker: "RabbitMQ"
        }
    }

    var daemonFlags: [String] {
        switch self {
        case .notify: []
        case .broker(let broker): ["--bus", "amqp", "--amqp-url", broker.url]
        }
    }

    /// Makes clients that use PostgreSQL or RabbitMQ directly.
    func carriers(_ count: Int, conninfo: String) throws(BenchFailure) -> [any Carrier] {
        var carriers: [any Carrier] = []
        for number in 0..<count {
            switch self {
            case .notify: carriers.append(try NotifyCarrier(number: number, of: count, conninfo: conninfo))
            case .broker(let broker):
                carriers.append(try RabbitMQCarrier(number: number, of: count, port: broker.port))
            }
        }
        return carriers
    }
}
