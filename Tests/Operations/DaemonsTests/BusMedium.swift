import Rooms

/// What connects the buses of several daemons: a broker, a database, or a hub in memory.
protocol BusMedium: Sendable {
    /// A bus that isn't started yet.
    func makeBus(_ id: DaemonID) async throws -> any Bus

    /// Cuts the medium for all buses until ``heal()``, as a crash would.
    func cut() async throws

    func heal() async throws

    /// No bus of it runs any more: whatever it started goes.
    func end() async
}
