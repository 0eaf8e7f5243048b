import AMQP
import FoundationEssentials
import Rooms

/// The broker's objects for daemons, and their keys.
enum AMQPBusTopology {
    static let exchange = AMQPExchange("letsswitch.bus", .topic)

    /// The interval of declarations. If the exchange is deleted, a daemon receives nothing for at most this time.
    static let declaresEvery = Duration.seconds(5)

    /// The broker chooses the queue's name, because the queue of a lost connection may still exist.
    static let queue = AMQPQueue("", isExclusive: true, isAutoDeleted: true, longest: 50_000, mostBytes: 67_108_864)

    /// Returns the declarations of a daemon's consuming connection.
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
