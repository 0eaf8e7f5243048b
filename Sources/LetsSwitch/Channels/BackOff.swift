/// When to try again. A value: time and chance are arguments.
struct BackOff: Sendable, Hashable {
    /// Waits after the first attempt, the second, …; the last for all further ones.
    let steps: [Duration]
    /// The part of a wait that chance may leave off, so that those who failed together don't come back together.
    let jitter: Double

    /// For reminders, which are worth something for a minute.
    static let reminder = BackOff(steps: [0.5, 1, 2, 4, 8, 15, 30].map { .seconds($0) }, jitter: 0.5)

    /// For the webhook's other events: 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 hours after the first attempt, as Standard
    /// Webhooks proposes.
    static let event = BackOff(
        steps: [5, 295, 1500, 5400, 10_800, 18_000, 14_400, 21_600, 14_400].map { .seconds($0) }, jitter: 0.1)

    static func of(_ delivery: Delivery) -> BackOff {
        delivery.isUrgent ? reminder : event
    }

    /// The wait after this many attempts, one at least. `random` is in 0..<1.
    func delay(afterAttempt attempt: Int, random: Double) -> Duration {
        guard let last = steps.last else { return .zero }
        let step = attempt <= steps.count ? steps[max(0, attempt - 1)] : last
        return step * (1 - jitter * random)
    }
}
