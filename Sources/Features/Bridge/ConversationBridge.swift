package import AMQP
import Basics
package import Messaging
package import Observability

/// Conversations for those who take part in them by a broker of RabbitMQ: what is said here goes there, what is said there is stored here.
///
/// Two connections, since librabbitmq blocks: where the broker takes nothing, what comes still comes.
package final class ConversationBridge: Service {
    private let store: BridgeStore
    private let publisher: AMQPConnection
    private let consumer: AMQPConnection
    private let outbox: BridgeOutbox
    private let inbox: BridgeInbox
    private let metrics: BridgeMetrics
    private let log: Log
    private let connections = Locked(BridgeConnectionPair())
    /// What ``run()`` does but for the connections.
    private let working = Locked<Task<Void, Never>?>(nil)
    /// Of what there is to end, the connections' part.
    private static let closing: Duration = .seconds(2)

    /// - Parameters:
    ///   - authorities: A file in PEM, instead of the system's.
    ///   - receive: Stores a message, and has those told who listen. Returns whether it is new.
    package init(
        _ url: AMQPURL, authorities: String?, name: String, store: BridgeStore, metrics: BridgeMetrics, log: Log,
        receive: @escaping @Sendable (IncomingMessage) async throws -> Bool
    ) {
        var configuration = AMQPConfiguration(url: url, name: name)
        configuration.longestBody = BridgeMessage.longestBody
        if let authorities { configuration.authorities = authorities }
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

    /// Tells the database that there is a broker: from then on what is said waits for it.
    package func enter() async throws {
        try await store.see()
    }

    /// Something was said, or may have been.
    package func heard() { outbox.heard() }

    // MARK: Life

    package func run() async {
        publisher.start { [self] event in
            switch event {
            case .connected:
                outbox.connected()
                // The exchange may have been deleted, and with it the binding.
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
        // What is in hand is confirmed, and acknowledged: else it would go, and come, twice.
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
        case .away(let message):
            metrics.stands(false)
            log.warning("disconnected from the broker for conversations", ["error": .string(message)])
        }
    }
}

/// Two connections are one bridge: it stands when both do.
struct BridgeConnectionPair: Sendable {
    enum Side: Hashable, Sendable {
        case publisher, consumer
    }

    enum News: Hashable, Sendable {
        case stands
        case away(String)
    }

    private var connected: Set<Side> = []
    /// What was told last.
    private var last: News?

    /// - Returns: What is to be told: not the same again at each attempt.
    mutating func take(_ event: AMQPEvent, of side: Side) -> News? {
        let news: News
        switch event {
        case .connected:
            connected.insert(side)
            guard connected.count == 2 else { return nil }
            news = .stands
        case .lost(let message):
            connected.remove(side)
            news = .away(message)
        case .delivered, .blocked, .unblocked: return nil
        }
        guard news != last else { return nil }
        last = news
        return news
    }
}
