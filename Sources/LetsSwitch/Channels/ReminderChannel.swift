/// A way to people: sends one thing at a time when it is asked, and knows nothing of databases, retries and other channels.
package protocol ReminderChannel: Sendable {
    var name: ChannelName { get }
    /// How many of its deliveries may be on their way at once.
    var concurrency: Int { get }

    /// The server that it goes to, where anybody may name it; `nil` where it is a setting.
    func origin(of delivery: Delivery) -> String?

    /// Sends it, within half a minute, and says what became of it. Many at once, any thread. Ends early with `retry` when the
    /// task is cancelled.
    func send(_ delivery: Delivery) async -> DeliveryOutcome

    /// Lets go of what it holds; nothing is sent any more.
    func shutdown() async
}

extension ReminderChannel {
    package func origin(of delivery: Delivery) -> String? { nil }
}
