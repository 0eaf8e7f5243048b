import TestSupport

@testable import LetsSwitch

/// A channel that does what the test says, and keeps what it was asked.
final class ScriptedChannel: ReminderChannel {
    let name: ChannelName
    let concurrency: Int
    let asked = EventRecorder<Delivery>()
    private let origins: @Sendable (Delivery) -> String?
    private let answer: @Sendable (Delivery) async -> DeliveryOutcome

    init(
        _ name: ChannelName = .ntfy, concurrency: Int = 4,
        answer: @escaping @Sendable (Delivery) async -> DeliveryOutcome = { _ in .accepted },
        origins: @escaping @Sendable (Delivery) -> String? = { _ in nil }
    ) {
        self.name = name
        self.concurrency = concurrency
        self.origins = origins
        self.answer = answer
    }

    func send(_ delivery: Delivery) async -> DeliveryOutcome {
        asked.append(delivery)
        return await answer(delivery)
    }

    func origin(of delivery: Delivery) -> String? { origins(delivery) }

    func shutdown() async {}
}
