import AMQP
import Rooms
import TestSupport

@testable import Daemons

/// A connection to a broker that can be cut.
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
        // Longer than a test blocks a daemon's thread.
        configuration.heartbeat = .seconds(60)
        return AMQPBus(id, configuration, queue: queue)
    }

    /// Ends all connections. New ones are accepted, but receive nothing.
    func cut() async throws {
        relay.stall()
        relay.drop()
    }

    func heal() async throws { relay.resume() }

    func end() async { relay.close() }
}
