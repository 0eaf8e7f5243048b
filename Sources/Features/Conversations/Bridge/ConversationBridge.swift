import AMQP
import Basics
import Domain
import Observability

/// Connects conversations with clients of RabbitMQ. Messages stored here are published there, and messages published
/// there are stored here.
///
/// The bridge uses two connections, because librabbitmq blocks. If the broker accepts nothing, its messages still
/// arrive.
package final class ConversationBridge: Service {
    private let store: BridgeStore
    private let publisher: AMQPConnection
    private let consumer: AMQPConnection
    private let outbox: BridgeOutbox
    private let inbox: BridgeInbox
    private let metrics: BridgeMetrics
    private let log: Log
    private let connections = Locked(BridgeConnectionPair())
    /// The task that ``run()`` starts in addition to the connections.
    private let working = Locked<Task<Void, Never>?>(nil)
    /// The part of the time for stopping that is reserved for closing the connections.
    private static let closing: Duration = .seconds(2)

    /// - Parameter receive: Stores a message and notifies its subscribers. Returns whether it is new.
    init(
        _ settings: BridgeSettings, name: String, store: BridgeStore, metrics: BridgeMetrics, log: Log,
        receive: @escaping @Sendable (IncomingMessage) async throws -> Bool
    ) {
        var configuration = AMQPConfiguration(url: settings.url, name: name)
        configuration.longestBody = BridgeMessage.longestBody
        if let authorities = settings.authorities { configuration.authorities = authorities }
        var (publishing, consuming) = (configuration, configuration)
        publishing.name += ", conversations out"
        consuming.name += ", conversations in"
        consuming.declaresEvery = BridgeTopology.declaresEvery
        let publisher = AMQPConnection(publishing, declaring: BridgeTopology.publishing)
        self.publisher = publisher
        consumer = AMQPConnection(consuming, declaring: BridgeTopology.consuming)
        self.store = store
        self.metrics = metrics
        self.log = log
        outbox = BridgeOutbox(store: store, metrics: metrics, log: log) { messages throws(AMQPError) in
            try await publisher.publish(messages)
        }
        inbox = BridgeInbox(metrics: metrics, log: log, receive: receive)
    }

    /// Registers in the database that there is a broker. From then on, stored messages wait for it.
    package func enter() async throws {
        try await store.see()
    }

    /// Wakes the bridge, because messages may have been stored.
    package func lookAgain() { outbox.lookAgain() }

    // MARK: Start and stop

    package func run() async {
        publisher.start { [self] event in
            switch event {
            case .connected:
                outbox.connected()
                // The exchange may have been deleted together with its binding.
                consumer.declareAgain()
            case .lost: outbox.lost()
            case .delivered, .blocked, .unblocked: break
            }
            note(event, of: .publisher)
        }
        consumer.start { [self] event in
            switch event {
            case .lost: inbox.lost()
            case .delivered(let delivery): inbox.delivered(delivery)
            case .connected, .blocked, .unblocked: break
            }
            note(event, of: .consumer)
        }
        let work = Task { [outbox, inbox, consumer] in
            async let sent: Void = outbox.run()
            await inbox.run(consumer)
            await sent
        }
        working.withLock { $0 = work }
        await work.value
    }

    package func stop(within limit: Duration) async {
        outbox.stop()
        inbox.stop()
        // Waits until messages in progress are confirmed and acknowledged. Otherwise they would be repeated.
        let work = working.withLock { $0 }
        await work?.ends(within: max(.zero, limit - Self.closing))
        async let published: Void = publisher.stop()
        await consumer.stop()
        await published
    }

    private func note(_ event: AMQPEvent, of side: BridgeConnectionPair.Side) {
        let news = connections.withLock { $0.take(event, of: side) }
        guard let news else { return }
        switch news {
        case .stands:
            metrics.stands(true)
            log.info("connected to the broker for conversations")
        case .unavailable(let message):
            metrics.stands(false)
            log.warning("disconnected from the broker for conversations", ["error": .string(message)])
        }
    }
}

/// The two connections of the bridge. The bridge is up if both are.
struct BridgeConnectionPair: Sendable {
    enum Side: Hashable, Sendable {
        case publisher, consumer
    }

    enum News: Hashable, Sendable {
        case stands
        case unavailable(String)
    }

    private var connected: Set<Side> = []
    /// The last reported state.
    private var last: News?

    /// Handles an event of one connection.
    ///
    /// - Returns: The state to report. `nil` if it hasn't changed.
    mutating func take(_ event: AMQPEvent, of side: Side) -> News? {
        let news: News
        switch event {
        case .connected:
            connected.insert(side)
            guard connected.count == 2 else { return nil }
            news = .stands
        case .lost(let message):
            connected.remove(side)
            news = .unavailable(message)
        case .delivered, .blocked, .unblocked: return nil
        }
        guard news != last else { return nil }
        last = news
        return news
    }
}
