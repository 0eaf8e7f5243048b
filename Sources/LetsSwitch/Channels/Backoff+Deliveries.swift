import Basics

extension Backoff {
    /// For reminders, which are worth something for a minute.
    static let reminder = Backoff(steps: [0.5, 1, 2, 4, 8, 15, 30].map { .seconds($0) }, jitter: 0.5)

    /// For the webhook's other events: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours after the first attempt, as Standard
    /// Webhooks proposes.
    static let event = Backoff(
        steps: [5, 295, 1500, 5400, 10_800, 18_000, 14_400, 21_600, 14_400].map { .seconds($0) }, jitter: 0.1)

    static func of(_ delivery: Delivery) -> Backoff {
        delivery.isUrgent ? reminder : event
    }
}
