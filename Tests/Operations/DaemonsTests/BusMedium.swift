import Rooms

/// The connection between the buses of several daemons: a broker, a database, or a hub in memory.
protocol BusMedium: Sendable {
    /// Returns a bus that isn't started yet.
    func makeBus(_ id: DaemonID) async throws -> any Bus

    /// Cuts the medium for all buses until ``heal()``, as a crash would.
    func cut() async throws

    func heal() async throws

    /// Ends the medium when no bus uses it any more, and everything that it started.
    func end() async
}
