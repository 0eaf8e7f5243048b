package import FoundationEssentials
package import Sockets
import Synchronization

/// All rooms of this daemon, on all its event loops. Any thread may use them.
///
/// One event loop owns a match's room: the room's home loop. Sockets with one room move to that loop, so that the
/// room's ales stay on one thread. A socket with several rooms stays on its own loop (``Sender``). The room of a
/// subscription has a part on each loop with subscribers.
package final class Rooms: Sendable {
    let loops: [EventLoop]
    private let key = LoopLocal<RoomShard>()
    let anyRoomIsOpen: Bool
    let aleFrames: [[UInt8]]
    let grace: Duration
    let report: @Sendable ([PresenceEvent]) -> Void
    /// The number of subscriptions. If there are none, publishing wakes no loop.
    private let subscriptions = Atomic<Int>(0)

    /// - Parameters:
    /// - anyRoomIsOpen: Whether every UUID is an open room, for development.
    /// - aleFrame: The WebSocket frame for an ale of each kind.
    /// - grace: How long a named person who left counts as present.
    /// - report: Receives presence events, many at a time, on a loop.
    package init(
        loops: [EventLoop], anyRoomIsOpen: Bool, aleFrame: (CheerKind) -> [UInt8], grace: Duration = .zero,
        report: @escaping @Sendable ([PresenceEvent]) -> Void
    ) {
        self.loops = loops
        self.anyRoomIsOpen = anyRoomIsOpen
        aleFrames = CheerKind.allCases.map(aleFrame)
        self.grace = grace
        self.report = report
    }

    /// Returns the rooms of a loop. Must be called on that loop.
    package func shard(on reactor: Reactor) -> RoomShard {
        key.value(on: reactor) { makeShard(on: reactor) }
    }

    // MARK: Matches' rooms

    /// Opens rooms. A peer that connects because of a reminder sent after this call will find its room open.
    package func open(_ rooms: [UUID]) {
        forEachHome(of: rooms) { $0.open($1) }
    }

    /// Closes rooms and notifies their members.
    package func close(_ rooms: [UUID]) {
        forEachHome(of: rooms) { $0.close($1) }
    }

    /// Sends a message to all members of a room on this daemon.
    package func announce(_ message: any Message, in room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).publish(message, to: room) }
    }

    /// Sends a message, after a short delay, to the members on this daemon with one of these identities, in any match's
    /// room.
    package func announce(_ message: any Message, toPeople people: Set<UUID>) {
        guard !people.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0).publish(message, toPeople: people) } }
    }

    /// Remembers for a moment that a room can't be entered.
    package func remember(_ state: RoomState, of room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).remember(state, of: room) }
    }

    /// Stores the tasks of a match. The users of these tasks may enter the match's room even if it is full.
    package func setTasks(_ tasks: Set<UUID>, of room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).setTasks(tasks, of: room) }
    }

    // MARK: Subscriptions

    /// Whether there are no subscriptions.
    package var hasNoSubscribers: Bool { subscriptions.load(ordering: .relaxed) == 0 }

    /// Subscribes a peer to a room, on the peer's loop. Ends with ``unsubscribe(_:)``.
    package func subscribe(_ peer: any RoomPeer, to room: UUID, on reactor: Reactor) -> Connection {
        subscriptions.add(1, ordering: .relaxed)
        return shard(on: reactor).enter(room, peer, policy: .subscription)
    }

    /// Ends a subscription. Does nothing the second time. Must be called on the connection's loop.
    package func unsubscribe(_ connection: Connection) {
        guard connection.isMember else { return }
        subscriptions.subtract(1, ordering: .relaxed)
        connection.leave()
    }

    /// Sends messages to all subscribers of their rooms, on all loops, in this order.
    package func publish(_ messages: [(message: any Message, room: UUID)]) {
        guard !messages.isEmpty, !hasNoSubscribers else { return }
        for loop in loops {
            loop.submit { reactor in
                let shard = self.shard(on: reactor)
                for (message, room) in messages { shard.publish(message, to: room) }
            }
        }
    }
}
