/// The clock and the dice, which a test has its own of.
struct ClientTime: Sendable {
    /// The time since some start; it never steps.
    let now: @Sendable () -> Duration
    /// Returns at this time, or throws when the task is cancelled.
    let sleep: @Sendable (_ until: Duration) async throws -> Void
    /// A random number of 0..<1.
    let fraction: @Sendable () -> Double

    static let system: ClientTime = {
        let start = ContinuousClock.now
        return ClientTime(
            now: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(until: start + $0, clock: .continuous) },
            fraction: { .random(in: 0..<1) })
    }()
}
