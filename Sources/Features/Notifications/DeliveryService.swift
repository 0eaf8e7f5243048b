import Basics
package import Domain
import HTTPClient
package import Observability

/// Sends the deliveries of all configured providers. Each provider has one worker. Any thread may use the service.
package struct DeliveryService: Service {
    private let workers: [DeliveryWorker]
    private let addresses: AddressStore

    /// - Parameters:
    ///   - addresses: Uses the connection pool of requests. Used only for secrets.
    ///   - delivered: Receives the number of reminders that a provider delivered first.
    /// - Throws: ``APNsKeyError``.
    package init(
        _ settings: ProviderSettings, store: DeliveryStore, addresses: AddressStore, log: Log,
        delivered: @escaping @Sendable (Int) -> Void
    ) throws {
        if !settings.names.isEmpty, HTTPClient.isLibraryListed() == false {
            log.error("providers can't send: libcurl is missing (apt-get install libcurl4)")
        }
        self.addresses = addresses
        workers = try settings.providers(addresses).map {
            DeliveryWorker($0, store: store, log: log, delivered: delivered)
        }
    }

    package var metrics: [DeliveryMetrics] { workers.map(\.metrics) }

    /// Wakes the workers, because deliveries may wait.
    package func wake() {
        for worker in workers { worker.wake() }
    }

    package func wake(_ name: ProviderName) {
        for worker in workers where worker.name == name { worker.wake() }
    }

    /// Registers this daemon's providers in the database. From then on, claims write deliveries for them.
    package func enter() async throws {
        for worker in workers { try await worker.enter() }
    }

    /// Sends one test to each of a device's addresses and to the webhook, and returns the results. Takes at most half a
    /// minute.
    package func test(
        _ content: ReminderContent, to device: DeviceID, at now: Double,
        report: @escaping @Sendable (DeliveryTest) -> Void
    ) async throws {
        var deliveries = try await addresses.deliveries(of: content, to: device)
        if workers.contains(where: { $0.name == .webhook }) {
            deliveries.append(Delivery(test: content, by: .webhook, at: now))
        }
        await withTaskGroup(of: Void.self) { group in
            for delivery in deliveries {
                let worker = workers.first { $0.name == delivery.provider }
                group.addTask {
                    guard let worker else { return report(DeliveryTest(off: delivery.provider)) }
                    report(DeliveryTest(delivery.provider, await worker.attempt(delivery)))
                }
            }
        }
    }

    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.run() } }
        }
    }

    package func stop(within limit: Duration) async {
        await withTaskGroup(of: Void.self) { group in
            for worker in workers { group.addTask { await worker.stop(within: limit) } }
        }
    }
}
