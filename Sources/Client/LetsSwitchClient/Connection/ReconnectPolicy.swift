/// How long to wait before a lost connection is made again.
///
/// The n-th wait in a row is a random time from zero to `min(longest, first · 2ⁿ)`, and at least what the server asked for.
/// Without the chance, all clients of a server that comes back would come at once.
///
/// ```swift
/// let patient = ReconnectPolicy(longest: .seconds(120))
/// let client = LetsSwitchClient(server, deviceID: "ada", reconnect: patient)
/// ```
public struct ReconnectPolicy: Sendable, Hashable {
    /// The bound of the first wait: `ReconnectPolicy(first: .seconds(2))`
    public let first: Duration
    /// The bound of every wait, but for one that the server asks for: `ReconnectPolicy(longest: .seconds(60))`
    public let longest: Duration
    /// A connection that was open for so long begins the waits anew: `ReconnectPolicy(steadyAfter: .seconds(60))`
    public let steadyAfter: Duration
    /// Waits in a row, after which it ends; `nil` for no end: `ReconnectPolicy(attempts: 3)`
    public let attempts: Int?

    /// A policy: `ReconnectPolicy(longest: .seconds(120), attempts: 10)`
    public init(
        first: Duration = .seconds(1), longest: Duration = .seconds(30), steadyAfter: Duration = .seconds(10),
        attempts: Int? = nil
    ) {
        self.first = max(.zero, first)
        self.longest = max(.zero, longest)
        self.steadyAfter = steadyAfter
        self.attempts = attempts
    }

    /// Up to a second, two, four … thirty, for ever: `LetsSwitchClient(server, deviceID: "ada", reconnect: .default)`
    public static var `default`: ReconnectPolicy { ReconnectPolicy() }

    /// No second connection: `LetsSwitchClient(server, deviceID: "ada", reconnect: .never)`
    public static var never: ReconnectPolicy { ReconnectPolicy(attempts: 0) }
}
