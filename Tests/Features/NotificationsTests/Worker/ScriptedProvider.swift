import TestSupport

@testable import Notifications

/// A provider with scripted results. It records the deliveries of each call.
final class ScriptedProvider: DeliveryProvider {
    let name: ProviderName
    let concurrency: Int
    let batchLimit: Int
    let asked = EventRecorder<Delivery>()
    /// The deliveries of each call.
    let batches = EventRecorder<[Delivery]>()
    private let origins: @Sendable (Delivery) -> String?
    private let answer: @Sendable (Delivery) async -> AttemptOutcome

    init(
        _ name: ProviderName = .ntfy, concurrency: Int = 4, batchLimit: Int = 1,
        answer: @escaping @Sendable (Delivery) async -> AttemptOutcome = { _ in .accepted },
        origins: @escaping @Sendable (Delivery) -> String? = { _ in nil }
    ) {
        self.name = name
        self.concurrency = concurrency
        self.batchLimit = batchLimit
        self.origins = origins
        self.answer = answer
    }

    func send(_ delivery: Delivery) async -> AttemptOutcome {
        asked.append(delivery)
        return await answer(delivery)
    }

    func send(together deliveries: [Delivery]) async -> AttemptOutcome {
        batches.append(deliveries)
        for delivery in deliveries { asked.append(delivery) }
        return await answer(deliveries[0])
    }

    func origin(of delivery: Delivery) -> String? { origins(delivery) }

    func shutdown() async {}
}
