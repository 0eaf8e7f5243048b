import Testing

@testable import AMQP
@testable import Conversations

/// The queue of received messages that aren't stored yet.
@Suite struct IncomingQueueTests {
    private func delivery(_ tag: UInt64, connection: Int = 1) -> AMQPDelivery {
        AMQPDelivery(connection: connection, tag: tag, isRedelivered: false, exchange: "conv", routingKey: "a.b")
    }

    @Test("Messages are handled in order, each until it is finished")
    func order() {
        var queue = IncomingQueue()
        #expect(queue.next() == .wait)
        queue.append(delivery(1))
        queue.append(delivery(2))
        #expect(queue.next() == .take(delivery(1), attempt: 1))
        #expect(queue.next() == .take(delivery(1), attempt: 2))
        queue.wasNoAttempt()
        #expect(queue.next() == .take(delivery(1), attempt: 2))
        queue.finished(delivery(1))
        #expect(queue.next() == .take(delivery(2), attempt: 1))
        queue.finished(delivery(2))
        #expect(queue.next() == .wait)
        queue.append(delivery(3))
        queue.stop()
        #expect(queue.next() == .end)
    }

    @Test("After a lost connection, all messages are delivered again")
    func lost() {
        var queue = IncomingQueue()
        queue.append(delivery(1))
        #expect(queue.next() == .take(delivery(1), attempt: 1))
        queue.lost()
        #expect(queue.next() == .wait)
        queue.append(delivery(1, connection: 2))
        queue.finished(delivery(1))
        #expect(queue.next() == .take(delivery(1, connection: 2), attempt: 1))
    }
}

/// The state of the bridge's two connections.
@Suite struct BridgeConnectionPairTests {
    @Test("The bridge is up if both connections are, and each change is reported once")
    func connections() {
        var connections = BridgeConnectionPair()
        #expect(connections.take(.lost(message: "refused"), of: .publisher) == .unavailable("refused"))
        #expect(connections.take(.lost(message: "refused"), of: .consumer) == nil)
        #expect(connections.take(.connected, of: .publisher) == nil)
        #expect(connections.take(.connected, of: .consumer) == .stands)
        #expect(connections.take(.blocked(reason: "memory"), of: .publisher) == nil)
        #expect(connections.take(.lost(message: "refused"), of: .consumer) == .unavailable("refused"))
        #expect(connections.take(.connected, of: .consumer) == .stands)
    }
}
