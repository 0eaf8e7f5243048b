/// A way to people: sends one thing at a time when it is asked, and knows nothing of databases, retries and other channels.
package protocol ReminderChannel: Sendable {
    var name: ChannelName { get }
    /// How many of its deliveries may be on their way at once.
    var concurrency: Int { get }
    /// How many of its deliveries go together at most.
    var batchLimit: Int { get }

    /// The server that it goes to, where anybody may name it; `nil` where it is a setting.
    func origin(of delivery: Delivery) -> String?

    /// Sends it, within half a minute, and says what became of it. Many at once, any thread. Ends early with `retry` when the
    /// task is cancelled.
    func send(_ delivery: Delivery) async -> DeliveryOutcome

    /// The same for several, of which there are ``batchLimit`` at most: what becomes of one becomes of all.
    func send(together deliveries: [Delivery]) async -> DeliveryOutcome

    /// Lets go of what it holds; nothing is sent any more.
    func shutdown() async
}

extension ReminderChannel {
    package var batchLimit: Int { 1 }

    package func origin(of delivery: Delivery) -> String? { nil }

    package func send(together deliveries: [Delivery]) async -> DeliveryOutcome {
        // Nobody asks for more than one.
        guard let delivery = deliveries.first else { return .accepted }
        return await send(delivery)
    }
}
