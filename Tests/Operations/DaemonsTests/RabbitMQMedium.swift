import AMQP
import Rooms
import TestSupport

@testable import Daemons

/// The way to a broker, which can be cut.
struct RabbitMQMedium: BusMedium {
    let broker: TestBroker
    let relay: StallingRelay
    let queue: AMQPQueue

    /// - Parameter queue: The settings of each daemon's queue.
    init(_ broker: TestBroker, queue: AMQPQueue = AMQPBusTopology.queue) throws {
        self.broker = broker
        self.queue = queue
        relay = try StallingRelay(to: .tcp(host: "127.0.0.1", port: broker.port))
    }

    func makeBus(_ id: DaemonID) async throws -> any Bus {
        let url = try AMQPURL("amqp://guest:guest@127.0.0.1:\(relay.port)/")
        var configuration = AMQPConfiguration(url: url, name: "test \(id)")
        // Longer than a test holds a daemon's thread up.
        configuration.heartbeat = .seconds(60)
        return AMQPBus(id, configuration, queue: queue)
    }

    /// Connections end, and those to come hear nothing.
    func cut() async throws {
        relay.stall()
        relay.drop()
    }

    func heal() async throws { relay.resume() }

    func end() async { relay.close() }
}
