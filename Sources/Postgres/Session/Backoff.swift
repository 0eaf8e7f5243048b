/// How long to wait before the next attempt: doubling from a minimum to a maximum, of which a random part of up to half
/// is left off, so that clients that lost a server together don't come back together.
struct Backoff: Sendable {
    let minimum: Duration
    let maximum: Duration
    private(set) var failures = 0

    init(minimum: Duration, maximum: Duration) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// The wait after one more failure. `random` is in 0..<1.
    mutating func next(random: Double) -> Duration {
        let doubled = failures < 16 ? minimum * (1 << failures) : maximum
        failures += 1
        return min(doubled, maximum) * (1 - random / 2)
    }

    mutating func reset() {
        failures = 0
    }
}
