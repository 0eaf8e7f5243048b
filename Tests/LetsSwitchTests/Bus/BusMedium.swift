import Rooms

/// What buses of several daemons stand on: a broker, a database, a hub in memory.
protocol BusMedium: Sendable {
    /// Whether the medium itself keeps who wants a room's packets. If not, a packet's list is believed.
    var routesRooms: Bool { get }

    /// A bus that isn't started yet.
    func makeBus(_ id: DaemonID) async throws -> any Bus

    /// The medium is away for all buses until ``heal()``, as after a crash.
    func cut() async throws

    func heal() async throws

    /// No bus of it runs any more: whatever it started goes.
    func end() async
}
