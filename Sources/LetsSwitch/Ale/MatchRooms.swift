import FoundationEssentials
import Rooms
import Server

/// Matches' rooms, as the doors to them know them: in memory, or by asking the database.
struct MatchRooms: Sendable {
    let rooms: Rooms
    let policy: RoomPolicy
    let metrics: RoomMetrics
    /// What the database knows of a room that is not open in memory.
    let find: @Sendable (UUID) async throws -> RoomState
    /// Told of a room that the database knows to be open, before a peer enters it.
    let found: @Sendable (OpenRoom) async -> Void

    /// Asks the database of a room that the memory knows nothing of: it is open then, or remembered for a moment to be not.
    ///
    /// - Throws: The refusal; or that the database is away.
    func learn(of room: UUID) async throws {
        let state = try await find(room)
        if case .open(let closesAt) = state { await found(OpenRoom(id: room, closesAt: closesAt)) }
        if let refusal = Abort(state) {
            rooms.remember(state, of: room)
            throw refusal
        }
    }
}
