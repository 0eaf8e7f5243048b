import AMQP
import FoundationEssentials
import Rooms
import Testing

@testable import Daemons

/// The decisions of RabbitMQ's bus, without a broker.
@Suite struct AMQPBusTests {
    @Test("The bus is connected when both connections are")
    func connected() {
        for (first, second) in [
            (AMQPConnectionPair.Side.publisher, AMQPConnectionPair.Side.consumer), (.consumer, .publisher),
        ] {
            var connections = AMQPConnectionPair()
            #expect(connections.connected(first) == nil)
            #expect(!connections.isConnected)
            #expect(connections.connected(second) == .connected)
            #expect(connections.isConnected)
            #expect(connections.connected(second) == nil)
        }
    }

    @Test("A loss of either connection is reported once")
    func lost() {
        var connections = AMQPConnectionPair()
        #expect(connections.lost(.publisher, "no broker") == .lost(message: "no broker"))
        #expect(connections.lost(.consumer, "no broker") == nil)
        #expect(connections.lost(.consumer, "no password") == .lost(message: "no password"))
        _ = connections.connected(.publisher)
        _ = connections.connected(.consumer)
        #expect(connections.lost(.consumer, "no password") == .lost(message: "no password"))
        #expect(connections.connected(.consumer) == .connected)
    }

    @Test("If the publishing connection is lost, the other one reconnects with its bindings")
    func publisherLost() {
        var connections = AMQPConnectionPair()
        _ = connections.connected(.publisher)
        _ = connections.connected(.consumer)
        #expect(connections.lost(.publisher, "reset") == .lost(message: "reset"))
        #expect(connections.connected(.publisher) == nil)
        #expect(connections.connected(.consumer) == .connected)
    }

    @Test("The sender learns whether the broker is unavailable or has refused")
    func errors() {
        #expect(BusError(.unavailable("no broker")) == .unavailable)
        #expect(BusError(.libraryMissing("librabbitmq")) == .unavailable)
        #expect(BusError(.refused("memory alarm")) == .refused(message: "memory alarm"))
        #expect(
            BusError(.rejected(places: [0, 2])) == .refused(message: "a queue rejected 2 of the messages"))
    }

    @Test("A packet is received as it was sent, by its destination's key")
    func message() throws {
        let (sender, receiver, room) = (DaemonID(), DaemonID(), UUID())
        for (destination, key) in [
            (BusPacket.Destination.everyDaemon, "all"), (.daemon(receiver), "daemon.\(receiver)"),
            (.room(room, of: []), room.uuidString),
        ] {
            let message = AMQPBusMessage.message(BusPacket(to: destination, [1, 2, 3]), from: sender)
            #expect(message.exchange == "letsswitch.bus" && message.routingKey == key)
            #expect(message.furtherKeys.isEmpty)
            #expect(AMQPBusMessage.packet(message.body, key: key, for: receiver) == .received(from: sender, [1, 2, 3]))
        }
    }

    @Test("A packet for a room has its key and those of its daemons")
    func room() {
        let (sender, receivers, room) = (DaemonID(), [DaemonID(), DaemonID()], UUID())
        let packet = BusPacket(to: .room(room, of: receivers + [sender]), [7])
        let message = AMQPBusMessage.message(packet, from: sender)
        #expect(message.routingKey == room.uuidString)
        #expect(message.furtherKeys == receivers.map { "daemon.\($0)" })
    }

    @Test("A daemon receives its own packets only if they are for itself")
    func own() {
        let id = DaemonID()
        for (destination, comes) in [
            (BusPacket.Destination.everyDaemon, false), (.room(UUID(), of: [id]), false), (.daemon(id), true),
        ] {
            let message = AMQPBusMessage.message(BusPacket(to: destination, [7]), from: id)
            let event = AMQPBusMessage.packet(message.body, key: message.routingKey, for: id)
            #expect(event == (comes ? .received(from: id, [7]) : nil))
        }
    }

    @Test("A packet of an unknown version is ignored")
    func foreign() {
        let message = AMQPBusMessage.message(BusPacket(to: .everyDaemon, [7]), from: DaemonID())
        var other = message.body
        other[0] = 2
        for body in [nil, [], Array(message.body.prefix(16)), other] as [[UInt8]?] {
            #expect(AMQPBusMessage.packet(body, key: "all", for: DaemonID()) == nil)
        }
    }
}
