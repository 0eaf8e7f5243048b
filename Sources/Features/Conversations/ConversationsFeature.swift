package import AMQP
import Access
package import ActionCable
package import Basics
package import CEmbedded
package import Domain
package import Features
package import Observability
import Postgres
import Rooms
package import Server

/// Conversations with history, blocks, and the bridge to RabbitMQ.
package struct ConversationsFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames =
        ConversationStore.statementNames + BridgeStore.statementNames + ConnectedUserStore.statementNames
        + BlockStore.statementNames
    package static let notificationChannels = [ConversationStore.channel, ConversationStore.changesChannel]
    package static let schema: FeatureSchema? = ConversationSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.conversations_examples_txt }
    package static let messages = ConversationDescriptions.schemas

    package let routes: [any RouteCollection]
    package let channels: [any CableChannel]
    package let conversations: Conversations
    private let metrics: ConversationMetrics
    private let connectedUsers: ConnectedUserWriter
    /// `nil` if no broker is configured.
    private let bridge: (bridge: ConversationBridge, metrics: BridgeMetrics)?

    /// - Parameters:
    ///   - day: Receives the days of partners who open a conversation.
    ///   - events: Sends the events of matches that a block dissolves.
    package init(
        _ settings: ConversationSettings, broker: BridgeSettings?, day: any DayNotifier, events: any EventOutbox,
        _ context: FeatureContext
    ) {
        let (pools, log, identities) = (context.pools, context.log, context.identities)
        let store = ConversationStore(database: pools.requests, settings: settings, storage: context.storage)
        let metrics = ConversationMetrics(quotas: context.quotas)
        let conversations = Conversations(
            store: store, rooms: ConversationRooms(context.rooms, keys: context.keys), loops: context.loops,
            executor: pools.executor, rates: context.messageRates, metrics: metrics, log: log, now: identities.now)
        self.metrics = metrics
        self.conversations = conversations
        // The connectedUsers don't share the pool with the attendance, whose statements wait for the locks of matches: a daemon
        // that stops would wait behind them.
        connectedUsers = ConnectedUserWriter(
            store: ConnectedUserStore(database: pools.background, daemon: context.daemon.uuid),
            audience: conversations.audience, log: log)
        bridge = broker.map { broker in
            let metrics = BridgeMetrics()
            let store = BridgeStore(database: pools.deliveries, daemon: context.daemon.uuid)
            let bridge = ConversationBridge(
                broker, name: "letsswitch \(context.daemon)", store: store, metrics: metrics, log: log,
                receive: conversations.responder.receive)
            return (bridge, metrics)
        }
        routes = [
            ConversationSocketController(conversations: conversations, identities: identities),
            UserController(conversations: conversations, identities: identities, log: log),
            ConversationsController(conversations: conversations, identities: identities),
            MessageController(conversations: conversations, identities: identities),
            ReactionController(conversations: conversations, identities: identities),
            PartnerController(store: store, identities: identities, day: day, log: log),
            BlockController(
                store: BlockStore(database: pools.requests, storage: context.storage), identities: identities,
                events: events, log: log),
        ]
        channels = [ConversationChannel(conversations: conversations)]
    }

    package func receive(_ payload: String, from channel: String) {
        if channel == ConversationStore.changesChannel {
            Task { await conversations.changes.receive(payload) }
        } else {
            Task { await conversations.feeds.receive(payload) }
            bridge?.bridge.lookAgain()
        }
    }

    package var services: [any Service] { [connectedUsers] + (bridge.map { [$0.bridge] } ?? []) }

    package func enter() async throws {
        try await bridge?.bridge.enter()
        try await connectedUsers.enter()
    }

    package func resynchronise() {
        conversations.resynchronise()
        bridge?.bridge.lookAgain()
    }

    package func writeAgain() async {
        await connectedUsers.writeAllAgain()
    }

    package func disconnect(_ device: DeviceID) {
        conversations.end(device)
    }

    package func writeMetrics(to text: inout MetricsText) {
        metrics.write(to: &text)
        bridge?.metrics.write(to: &text)
    }
}

/// The RabbitMQ server of the bridge.
package struct BridgeSettings: Sendable {
    let url: AMQPURL
    /// A PEM file, instead of the system's authorities.
    let authorities: String?

    package init(_ url: AMQPURL, authorities: String?) {
        self.url = url
        self.authorities = authorities
    }
}
