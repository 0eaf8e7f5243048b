import AMQP

/// The broker's objects for conversations: a shared exchange, and one queue for all daemons.
enum BridgeTopology {
    /// A client that declares it differently is refused with 406.
    static let exchange = AMQPExchange("conv", .topic)
    /// Shared by all daemons. Other queues of this exchange, `<user>.conv`, belong to clients and must not be consumed
    /// here. Persistent messages survive a restart of the broker. Only one daemon receives messages at a time, so that
    /// their order is kept.
    static let queue = AMQPQueue("letsswitch.bridge", isDurable: true, isSingleConsumer: true)
    /// Marks messages from this server.
    static let appID = "letsswitch"

    /// The maximum number of unacknowledged messages.
    private static let ahead: UInt16 = 100

    /// The maximum time for which the bridge receives nothing after the exchange or binding was deleted.
    static let declaresEvery: Duration = .seconds(5)

    static let publishing: [AMQPDeclaration] = [.exchange(exchange), .confirms]
    /// The declarations for both directions.
    static let places: [AMQPDeclaration] = [
        .exchange(exchange), .queue(queue), .binding(AMQPBinding(queue: queue.name, exchange: exchange.name, key: "#")),
    ]
    static let consuming = places + [.consumption(queue: queue.name, .explicit(ahead: ahead))]
}
