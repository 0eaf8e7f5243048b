import Domain
import FoundationEssentials
import Observability
import Reminders
import Rooms
import Server
import Sockets
import Wire

/// Removes its recipient from a match's room, because the recipient's data was erased.
struct PersonErased: Message {}

/// Checks whether matches' rooms are open, in memory or by a query. Used by all transports.
struct MatchRooms: Sendable {
    /// The NOTIFY channel for the tasks of an erased device whose rooms are open. The payload lists the tasks,
    /// separated by commas.
    static let erasedTasksChannel = "letsswitch_erased_tasks"

    let rooms: Rooms
    /// Computes the identity of a device without a task.
    let keys: RoomKeys
    let policy: RoomPolicy
    let metrics: RoomMetrics
    let store: ReminderStore
    let scheduler: Scheduler

    /// Returns whether a WebSocket may enter a room. Must be called on the room's loop.
    ///
    /// - Parameters:
    ///   - task: The task that the peer claims.
    ///   - enter: Adds the WebSocket to the room.
    func admission(
        to room: UUID, as task: UUID?, on reactor: Reactor, enter: @escaping WebSocketRoute.OnUpgrade
    ) throws -> WebSocketRoute.Admission {
        switch rooms.shard(on: reactor).decision(of: room, policy: policy, for: task) {
        case .open:
            return .admitted(enter)
        case .full:
            throw refusalOfFullRoom()
        case .fullUnlessTask:
            return .unknown {
                guard let task, try await learnTasks(of: room).contains(task) else { throw refusalOfFullRoom() }
                return enter
            }
        case .refused(let state, let age):
            guard let refusal = Abort(state, after: age) else { return .admitted(enter) }
            throw refusal
        case .unknown:
            return .unknown {
                try await learn(of: room)
                return enter
            }
        }
    }

    private func refusalOfFullRoom() -> Abort {
        metrics.turnedAway.add()
        return Abort(
            .conflict, code: "room_full", reason: "The room already has \(policy.capacity) connections, the maximum.")
    }

    /// Reads the tasks of a full room's match from the database. Their users may enter although the room is full.
    @discardableResult
    func learnTasks(of room: UUID) async throws -> Set<UUID> {
        let tasks = try await store.tasks(ofRoom: room)
        rooms.setTasks(tasks, of: room)
        return tasks
    }

    /// Queries the database for a room that is unknown in memory. Opens the room, or remembers for a moment that it
    /// isn't open.
    ///
    /// - Throws: The refusal, or an error if the database is unavailable.
    func learn(of room: UUID) async throws {
        let state = try await store.findRoom(room)
        if case .open(let closesAt) = state { await scheduler.found(OpenRoom(id: room, closesAt: closesAt)) }
        if let refusal = Abort(state) {
            rooms.remember(state, of: room)
            throw refusal
        }
    }

    /// Removes the connections of an erased device from its rooms.
    func end(_ device: DeviceID) {
        rooms.announce(PersonErased(), toPeople: [keys.device(device)])
    }

    /// Removes the members with erased tasks from their rooms.
    ///
    /// - Parameter notification: The payload of ``erasedTasksChannel``.
    func endTasks(_ notification: String) {
        rooms.announce(
            PersonErased(), toPeople: Set(notification.split(separator: ",").compactMap { UUID(text: String($0)) }))
    }

    /// Returns whether an error of ``learn(of:)`` is a refusal. Otherwise the database is unavailable.
    func isRefusal(_ error: any Error) -> Bool {
        (error as? Abort).map { $0.status.code < 500 } ?? false
    }
}

extension Abort {
    /// Creates the answer for a room that isn't open. Returns `nil` if the room is open.
    ///
    /// - Parameter age: The time since the database was queried.
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

/// The counters of rooms. Any thread may use them.
struct RoomMetrics: Sendable {
    /// The number of peers that found their room full.
    let turnedAway = Counter()
    /// The number of ales that weren't sent to subscriptions on `/cable`, because too many were waiting.
    let alesLeftOut = Counter()
}
