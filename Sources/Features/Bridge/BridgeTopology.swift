import AMQP

/// What the broker has for conversations: an exchange that is everybody's, and one queue that is the daemons'.
enum BridgeTopology {
    /// Whoever declares it otherwise, or second, is refused with 406.
    static let exchange = AMQPExchange("conv", .topic)
    /// Of all daemons. The others of this exchange, `<user>.conv`, are their clients': who consumed them would take what is theirs. What
    /// is in it stays when the broker is restarted, if its sender wants that; and one daemon gets all of it at a time, in order.
    static let queue = AMQPQueue("letsswitch.bridge", isDurable: true, isSingleConsumer: true)
    /// How it is told who has sent something.
    static let appID = "letsswitch"

    /// Messages that come before the first of them has been dealt with.
    private static let ahead: UInt16 = 100

    /// The longest time that the bridge stays deaf after somebody deleted the exchange or the binding.
    static let declaresEvery: Duration = .seconds(5)

    static let publishing: [AMQPDeclaration] = [.exchange(exchange), .confirms]
    /// What both directions need.
    static let places: [AMQPDeclaration] = [
        .exchange(exchange), .queue(queue), .binding(AMQPBinding(queue: queue.name, exchange: exchange.name, key: "#")),
    ]
    static let consuming = places + [.consumption(queue: queue.name, .explicit(ahead: ahead))]
}
