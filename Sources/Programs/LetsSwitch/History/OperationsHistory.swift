import Basics
import Daemons
import Features
import Notifications
import Server
import Settings

/// The samples of the daemon's metrics, and the page that shows them. Without operators' addresses it has neither,
/// because no client could read the page.
struct OperationsHistory: Sendable {
    let routes: [any RouteCollection]
    private let sampler: OperationsSampler?
    private let core: DaemonCore
    private let metrics: ProductMetrics
    private let providers: [DeliveryMetrics]

    init(
        _ configuration: Configuration, _ core: DaemonCore, _ features: DaemonFeatures, metrics: ProductMetrics,
        readiness: @escaping @Sendable () async -> Readiness
    ) {
        self.core = core
        self.metrics = metrics
        providers = features.notifications?.deliveries.metrics ?? []
        guard !configuration.operationsListen.isEmpty else {
            sampler = nil
            routes = []
            return
        }
        let sampler = OperationsSampler(
            id: core.id, store: SampleStore(database: core.pools.background), others: { metrics.bus.others })
        self.sampler = sampler
        routes = [
            HistoryPageController(
                sampler: sampler, providers: configuration.providers.names, host: Configuration.machineName,
                build: ProductVersion.number, readiness: readiness,
                bus: {
                    let (kind, isConnected) = metrics.bus.inUse
                    return (kind.rawValue, isConnected)
                })
        ]
    }

    /// Returns the service that takes the samples.
    func services(of application: Application) -> [any Service] {
        guard let sampler else { return [] }
        let sources = ReadingSources(
            application: application, rooms: core.rooms, metrics: metrics, providers: providers, pools: core.pools)
        return [SamplingService(sampler: sampler, sources: sources)]
    }
}
