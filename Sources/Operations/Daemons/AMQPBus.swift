package import AMQP
import Basics
package import Rooms

/// A bus over RabbitMQ: a topic exchange, a queue for each daemon, and two connections. One connection publishes and
/// the other one consumes, so that a broker that stops reading still delivers.
///
/// ```
/// | packets to   | routing key                                      | bound to it               |
/// |--------------|--------------------------------------------------|---------------------------|
/// | every daemon | `all`                                            | every queue               |
/// | one daemon   | `daemon.<its id>`                                | its queue                 |
/// | a room       | the room's UUID, and the keys of its daemons     | their queues, by the keys |
/// ```
///
/// No queue is bound to rooms. A binding costs the broker milliseconds, so a daemon that reconnects with thousands of
/// rooms would receive nothing for seconds. The sender knows the daemons of a room, and the broker copies the message
/// ([sender-selected distribution](https://www.rabbitmq.com/docs/sender-selected)).
///
/// The queue belongs to its connection and is deleted with it. A full queue drops its oldest messages, so a stopped
/// daemon costs the broker no further memory.
package final class AMQPBus: Bus {
    private let id: DaemonID
    private let publisher: AMQPConnection
    private let consumer: AMQPConnection
    /// The state of both connections. Its lock is held while an event is delivered.
    private let state: Locked<State>

    private struct State {
        var connections = AMQPConnectionPair()
        var receive: (@Sendable (BusEvent) -> Void)?
    }

    /// - Parameter configuration: The broker's settings. The purpose of each connection is appended to its name.
    package convenience init(_ id: DaemonID, _ configuration: AMQPConfiguration) {
        self.init(id, configuration, queue: AMQPBusTopology.queue)
    }

    init(_ id: DaemonID, _ configuration: AMQPConfiguration, queue: AMQPQueue) {
        self.id = id
        var (publishing, consuming) = (configuration, configuration)
        publishing.name += ", publishing"
        consuming.name += ", consuming"
        consuming.declaresEvery = AMQPBusTopology.declaresEvery
        publisher = AMQPConnection(publishing, declaring: [.exchange(AMQPBusTopology.exchange)])
        consumer = AMQPConnection(consuming, declaring: AMQPBusTopology.declarations(for: id, queue: queue))
        state = Locked(State())
    }

    /// The broker has no preferred size. This size makes good use of a message.
    package var packetSize: Int { 16_384 }

    package func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async {
        state.withLock { $0.receive = receive }
        publisher.start { [self] in handle($0, from: .publisher) }
        consumer.start { [self] in handle($0, from: .consumer) }
    }

    package func stop() async {
        state.withLock { state in
            state.receive = nil
            state.connections = AMQPConnectionPair()
        }
        async let published: Void = publisher.stop()
        await consumer.stop()
        await published
    }

    package func send(_ packets: [BusPacket]) async throws(BusError) {
        guard state.withLock({ $0.connections.isConnected }) else { throw .unavailable }
        do {
            try await publisher.publish(packets.map { AMQPBusMessage.message($0, from: id) })
        } catch {
            throw BusError(error)
        }
    }

    // MARK: - Events

    /// Called on the threads of both connections.
    private func handle(_ event: AMQPEvent, from side: AMQPConnectionPair.Side) {
        state.withLock { state in
            switch event {
            case .connected: report(state.connections.connected(side), state)
            case .lost(let message):
                let wasConnected = state.connections.isConnected
                report(state.connections.lost(side, message), state)
                // The bus replaces both connections together.
                if wasConnected, side == .publisher { consumer.reconnect(because: "the other connection was lost") }
            case .delivered(let delivery):
                let packet = AMQPBusMessage.packet(delivery.body, key: delivery.routingKey, for: id)
                if state.connections.isConnected { report(packet, state) }
            // A blocked sender receives an error.
            case .blocked, .unblocked: break
            }
        }
    }

    private func report(_ event: BusEvent?, _ state: State) {
        if let event { state.receive?(event) }
    }
}
