import AMQP
import Daemons
import Features

/// The settings of other daemons on the same database.
extension SettingTable {
    static let bus: [Setting<Configuration>] = [
        .text(
            "bus", .bus, placeholder: "BUS", default: Configuration().bus.rawValue,
            "how cheers and presence travel between daemons: \(BusChoice.allCases.map(\.rawValue).joined(separator: ", "))"
        ) { configuration, value throws(InvalidValue) in
            guard let choice = BusChoice(rawValue: value.lowercased()) else {
                let known = BusChoice.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidValue(value, "must be one of \(known)")
            }
            configuration.bus = choice
        },
        .text(
            "amqp-url", .bus, placeholder: "URL", default: "none",
            "RabbitMQ server for conversations and --bus amqp: amqp://user:password@host:5672/vhost"
        ) { configuration, value throws(InvalidValue) in
            do throws(AMQPURLError) {
                configuration.amqpURL = try AMQPURL(value)
            } catch {
                throw InvalidValue(
                    secret: "must be a URL like amqp://user:password@host:5672/vhost: \(error.message)")
            }
        }.allowedInFile,
        .text(
            "amqp-ca", .bus, placeholder: "FILE", default: "none",
            "certificate authorities to trust for amqps://, in PEM, instead of the system's"
        ) { configuration, value throws(InvalidValue) in
            guard !value.isEmpty else { throw InvalidValue(value, "must not be empty") }
            configuration.amqpCAFile = value
        },
    ]
}
