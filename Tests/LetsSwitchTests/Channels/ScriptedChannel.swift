import TestSupport

@testable import LetsSwitch

/// A channel that does what the test says, and keeps what it was asked.
final class ScriptedChannel: ReminderChannel {
    let name: ChannelName
    let concurrency: Int
    let asked = EventRecorder<Delivery>()
    private let answer: @Sendable (Delivery) async -> DeliveryOutcome

    init(
        _ name: ChannelName = .ntfy, concurrency: Int = 4,
        answer: @escaping @Sendable (Delivery) async -> DeliveryOutcome = { _ in .accepted }
    ) {
        self.name = name
        self.concurrency = concurrency
        self.answer = answer
    }

    func send(_ delivery: Delivery) async -> DeliveryOutcome {
        asked.append(delivery)
        return await answer(delivery)
    }

    func shutdown() async {}
}
