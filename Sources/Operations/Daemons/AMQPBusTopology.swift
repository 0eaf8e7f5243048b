import AMQP
import FoundationEssentials
import Rooms

/// What the broker has for the daemons, and by which keys it finds them.
enum AMQPBusTopology {
    static let exchange = AMQPExchange("letsswitch.bus", .topic)

    /// The longest time that a daemon stays deaf after somebody deleted the exchange.
    static let declaresEvery = Duration.seconds(5)

    /// The broker makes its name up: one's queue of a connection that the broker hasn't missed yet is still there.
    static let queue = AMQPQueue("", isExclusive: true, isAutoDeleted: true, longest: 50_000, mostBytes: 67_108_864)

    /// What a daemon's consuming connection begins with.
    static func declarations(for id: DaemonID, queue: AMQPQueue) -> [AMQPDeclaration] {
        [
            .exchange(exchange), .queue(queue), .binding(binding(.everyDaemon)), .binding(binding(.daemon(id))),
            .consumption(queue: "", .none),
        ]
    }

    static func binding(_ destination: BusPacket.Destination) -> AMQPBinding {
        AMQPBinding(exchange: exchange.name, key: key(destination))
    }

    static func key(_ destination: BusPacket.Destination) -> String {
        switch destination {
        case .everyDaemon: "all"
        case .daemon(let id): "daemon.\(id)"
        case .room(let room, _): room.uuidString
        }
    }
}
