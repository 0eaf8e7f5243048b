/// The waits before a client connects again.
///
/// The n-th consecutive wait is a random time from zero to `min(longest, first · 2ⁿ)`. If the server asks for a longer
/// wait, that time is used. The waits are random because otherwise all clients would connect to a restarted server at
/// the same time.
///
/// ```swift
/// let patient = ReconnectPolicy(longest: .seconds(120))
/// let client = LetsSwitchClient(server, deviceID: "ada", reconnect: patient)
/// ```
public struct ReconnectPolicy: Sendable, Hashable {
    /// The upper bound of the first wait: `ReconnectPolicy(first: .seconds(2))`
    public let first: Duration
    /// The upper bound of a wait, unless the server asks for a longer one: `ReconnectPolicy(longest: .seconds(60))`
    public let longest: Duration
    /// The time that a connection must be open before the next wait counts as the first again:
    /// `ReconnectPolicy(steadyAfter: .seconds(60))`
    public let steadyAfter: Duration
    /// The maximum number of consecutive waits, or `nil` for no limit: `ReconnectPolicy(attempts: 3)`
    public let attempts: Int?

    /// Creates a policy: `ReconnectPolicy(longest: .seconds(120), attempts: 10)`
    public init(
        first: Duration = .seconds(1), longest: Duration = .seconds(30), steadyAfter: Duration = .seconds(10),
        attempts: Int? = nil
    ) {
        self.first = max(.zero, first)
        self.longest = max(.zero, longest)
        self.steadyAfter = steadyAfter
        self.attempts = attempts
    }

    /// Waits of up to 1, 2, 4 … 30 seconds, without a limit: `LetsSwitchClient(server, deviceID: "ada", reconnect:
    /// .default)`
    public static var `default`: ReconnectPolicy { ReconnectPolicy() }

    /// Never connects again: `LetsSwitchClient(server, deviceID: "ada", reconnect: .never)`
    public static var never: ReconnectPolicy { ReconnectPolicy(attempts: 0) }
}
