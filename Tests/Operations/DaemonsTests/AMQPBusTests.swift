import AMQP
import FoundationEssentials
import Rooms
import Testing

@testable import Daemons

/// What decides in RabbitMQ's bus, without a broker.
@Suite struct AMQPBusTests {
    @Test("The bus is there when both connections are")
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

    @Test("It is away when one of them is, and says so once")
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

    @Test("Without the connection that publishes, the other one begins anew: what it was bound to is forgotten")
    func publisherLost() {
        var connections = AMQPConnectionPair()
        _ = connections.connected(.publisher)
        _ = connections.connected(.consumer)
        #expect(connections.lost(.publisher, "reset") == .lost(message: "reset"))
        #expect(connections.connected(.publisher) == nil)
        #expect(connections.connected(.consumer) == .connected)
    }

    @Test("Who sends learns whether the broker is away or has said no")
    func errors() {
        #expect(BusError(.away("no broker")) == .away)
        #expect(BusError(.libraryMissing("librabbitmq")) == .away)
        #expect(BusError(.refused("memory alarm")) == .refused(message: "memory alarm"))
        #expect(
            BusError(.rejected(places: [0, 2])) == .refused(message: "a queue rejected 2 of the messages"))
    }

    @Test("A packet comes out as it went in, by the key of its destination")
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

    @Test("A packet to a room goes by its key, and to the daemons that it concerns")
    func room() {
        let (sender, receivers, room) = (DaemonID(), [DaemonID(), DaemonID()], UUID())
        let packet = BusPacket(to: .room(room, of: receivers + [sender]), [7])
        let message = AMQPBusMessage.message(packet, from: sender)
        #expect(message.routingKey == room.uuidString)
        #expect(message.furtherKeys == receivers.map { "daemon.\($0)" })
    }

    @Test("One's own come only from oneself to oneself")
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

    @Test("What is in no language that we know is passed over")
    func foreign() {
        let message = AMQPBusMessage.message(BusPacket(to: .everyDaemon, [7]), from: DaemonID())
        var other = message.body
        other[0] = 2
        for body in [nil, [], Array(message.body.prefix(16)), other] as [[UInt8]?] {
            #expect(AMQPBusMessage.packet(body, key: "all", for: DaemonID()) == nil)
        }
    }
}
