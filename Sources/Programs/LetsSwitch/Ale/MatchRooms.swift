import Domain
import FoundationEssentials
import LiveSchedule
import Observability
import Rooms
import Server
import Sockets
import Wire

/// Whoever is told of it is in a match's room as somebody who was erased.
struct PersonErased: Message {}

/// Matches' rooms, as the doors to them know them: in memory, or by asking the database.
struct MatchRooms: Sendable {
    /// NOTIFY of tasks of a device that is erased, whose rooms are open; with commas between them.
    static let erasedTasksChannel = "letsswitch_erased_tasks"

    let rooms: Rooms
    /// By which a device is known there that gives no task.
    let keys: RoomKeys
    let policy: RoomPolicy
    let metrics: RoomMetrics
    /// What the database knows of a room that is not open in memory.
    let find: @Sendable (UUID) async throws -> RoomState
    /// Told of a room that the database knows to be open, before a peer enters it.
    let found: @Sendable (OpenRoom) async -> Void

    /// Whether a WebSocket may enter a room. On the room's loop.
    func admission(to room: UUID, on reactor: Reactor) throws -> WebSocketRoute.Admission {
        switch rooms.shard(on: reactor).decision(of: room, policy: policy) {
        case .open:
            return .admitted
        case .full:
            metrics.turnedAway.add()
            throw Abort(
                .conflict, code: "room_full",
                reason: "The room already has \(policy.capacity) connections, the maximum.")
        case .refused(let state, let age):
            guard let refusal = Abort(state, after: age) else { return .admitted }
            throw refusal
        case .unknown:
            return .unknown { try await learn(of: room) }
        }
    }

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

    /// The device was erased: whoever is in a room as that device doesn't stay there.
    func end(_ device: DeviceID) {
        rooms.announce(PersonErased(), toPeople: [keys.device(device)])
    }

    /// Tasks of one were erased: nor does whoever is there by one of these.
    ///
    /// - Parameter notification: What ``erasedTasksChannel`` has brought.
    func endTasks(_ notification: String) {
        rooms.announce(
            PersonErased(), toPeople: Set(notification.split(separator: ",").compactMap { UUID(text: String($0)) }))
    }

    /// Whether ``learn(of:)`` has found that nobody may enter now; otherwise the database is away.
    func isRefusal(_ error: any Error) -> Bool {
        (error as? Abort).map { $0.status.code < 500 } ?? false
    }
}

extension Abort {
    /// The answer to who wants to enter a room that is not open, `age` after the database was asked; `nil` for one that is.
    init?(_ state: RoomState, after age: Duration = .zero) {
        switch state {
        case .open:
            return nil
        case .unknown:
            self.init(.notFound, code: "no_such_room", reason: "There is no such room.")
        case .closed:
            self.init(.gone, code: "room_closed", reason: "The room has closed.")
        case .notOpen(let opensAt, let then):
            let left = (opensAt - then - age / .seconds(1)).rounded(.up)
            let instant = Instant(epoch: opensAt)?.description ?? "a later time"
            self.init(
                .forbidden, code: "room_not_open", reason: "The room opens at \(instant).",
                headers: [HTTPField("Retry-After", String(Int(max(1, min(left, 1e9)))))],
                details: [("opensAt", instant)])
        }
    }
}

/// What the rooms count. Any thread.
struct RoomMetrics: Sendable {
    /// Peers that found their room full.
    let turnedAway = Counter()
    /// Ales that subscriptions on `/cable` weren't sent, because they hadn't read others.
    let alesLeftOut = Counter()
}
