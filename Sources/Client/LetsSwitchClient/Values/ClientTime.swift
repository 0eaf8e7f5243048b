/// The clock and the source of random numbers. Tests replace both.
struct ClientTime: Sendable {
    /// Returns the time since an arbitrary start. The clock is monotonic.
    let now: @Sendable () -> Duration
    /// Sleeps until a time, and throws if the task is cancelled.
    let sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Returns a random number in 0..<1.
    let fraction: @Sendable () -> Double

    static let system: ClientTime = {
        let start = ContinuousClock.now
        return ClientTime(
            now: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(until: start + $0, clock: .continuous) },
            fraction: { .random(in: 0..<1) })
    }()
}
