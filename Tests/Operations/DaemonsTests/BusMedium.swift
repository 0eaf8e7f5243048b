import Rooms

/// What buses of several daemons stand on: a broker, a database, a hub in memory.
protocol BusMedium: Sendable {
    /// A bus that isn't started yet.
    func makeBus(_ id: DaemonID) async throws -> any Bus

    /// The medium is away for all buses until ``heal()``, as after a crash.
    func cut() async throws

    func heal() async throws

    /// No bus of it runs any more: whatever it started goes.
    func end() async
}
