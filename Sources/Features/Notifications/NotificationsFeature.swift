import ActionCable
package import Basics
package import CEmbedded
package import Domain
package import Features
package import Observability
import Postgres
package import Server

/// Notifications through providers: APNs, Web Push, ntfy and the webhook.
package struct NotificationsFeature: Feature {
    /// The names of the feature's statements, for metrics.
    package static let statementNames =
        DeliveryStore.statementNames + AddressStore.statementNames + [AddressStore.tokenStatementName]
    package static let notificationChannels = [DeliveryStore.notifications]
    package static let schema: FeatureSchema? = NotificationSchema.schema
    package static var examples: EmbeddedFile? { EmbeddedFile.notifications_examples_txt }

    package let routes: [any RouteCollection]
    package let deliveries: DeliveryService
    /// The part of the services' ending time that deliveries leave to the services after them.
    private let reserve: Duration

    /// - Parameter observer: Counts the reminders that a provider has accepted first.
    /// - Throws: ``APNsKeyError``.
    package init(
        _ settings: ProviderSettings, reserve: Duration, observer: any DeliveryObserver, pools: DatabasePools,
        storage: StorageQuota, log: Log
    ) throws {
        let addresses = AddressStore(database: pools.requests, storage: storage)
        deliveries = try DeliveryService(
            settings, store: DeliveryStore(database: pools.deliveries, others: pools.otherDeliveries),
            addresses: addresses, log: log, delivered: observer.remindersDelivered)
        self.reserve = reserve
        let ntfy = settings.ntfy.server.map { NtfyController(server: $0, addresses: addresses, log: log) }
        routes =
            [TokenController(addresses: addresses, log: log)] + (ntfy.map { [$0] } ?? [])
            + [WebPushController(settings.webPush, store: addresses, log: log)]
    }

    package func receive(_ payload: String, from channel: String) {
        if let name = ProviderName(rawValue: payload) { deliveries.wake(name) }
    }

    package var services: [any Service] { [EarlyEndingService(service: deliveries, reserve: reserve)] }

    package func enter() async throws {
        try await deliveries.enter()
    }

    package func resynchronise() {
        deliveries.wake()
    }

    package func writeMetrics(to text: inout MetricsText) {
        DeliveryMetrics.write(deliveries.metrics, to: &text)
    }
}

extension NotificationsFeature: EventOutbox {
    package func eventWritten() {
        deliveries.wake(.webhook)
    }

    package func deliveriesWritten() {
        deliveries.wake()
    }
}

/// Receives what became of reminders.
package protocol DeliveryObserver: Sendable {
    /// Reports a number of reminders whose first delivery was by a provider.
    func remindersDelivered(_ count: Int)
}
