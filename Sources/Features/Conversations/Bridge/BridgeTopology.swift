import AMQP

/// The broker's objects for conversations: one exchange, and one queue that all daemons share.
enum BridgeTopology {
    /// The exchange that clients and daemons share. The broker refuses a client that declares it differently with 406.
    static let exchange = AMQPExchange("conv", .topic)
    /// The queue that all daemons share. Only one daemon consumes it at a time, so that messages stay in order.
    /// Persistent messages survive a restart of the broker. The other queues of the exchange, `<user>.conv`, belong to
    /// clients, and daemons must not consume them.
    static let queue = AMQPQueue("letsswitch.bridge", isDurable: true, isSingleConsumer: true)
    /// The `app_id` of messages from this server.
    static let appID = "letsswitch"

    /// The maximum number of unacknowledged messages.
    private static let ahead: UInt16 = 100

    /// The interval of repeated declarations. If the exchange or the binding was deleted, the bridge receives nothing
    /// until the next declaration.
    static let declaresEvery: Duration = .seconds(5)

    static let publishing: [AMQPDeclaration] = [.exchange(exchange), .confirms]
    /// The declarations for both directions.
    static let places: [AMQPDeclaration] = [
        .exchange(exchange), .queue(queue), .binding(AMQPBinding(queue: queue.name, exchange: exchange.name, key: "#")),
    ]
    static let consuming = places + [.consumption(queue: queue.name, .explicit(ahead: ahead))]
}
