package import FoundationEssentials
package import Sockets
import Synchronization

/// All rooms of this daemon, on all of its event loops. May be used from anywhere.
///
/// A match's room lives on one loop, its home, to which sockets of one room move: what is said there never leaves the thread. A socket
/// of several rooms stays where it is (``Sender``). A subscription has a part on each loop with somebody who listens.
package final class Rooms: Sendable {
    let loops: [EventLoop]
    private let key = LoopLocal<RoomShard>()
    let anyRoomIsOpen: Bool
    let aleFrames: [[UInt8]]
    let grace: Duration
    let report: @Sendable ([PresenceEvent]) -> Void
    /// Subscriptions: without any, no loop is woken to tell nobody.
    private let subscriptions = Atomic<Int>(0)

    /// - Parameters:
    ///   - anyRoomIsOpen: Makes an open room of any UUID: for development.
    ///   - aleFrame: What everybody but the sender of an ale of a kind is sent: a WebSocket frame.
    ///   - grace: How long somebody who said who it is, and has left, counts as present.
    ///   - report: Told who comes and goes, many at a time; called on a loop.
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

    /// The rooms of a loop. On that loop.
    package func shard(on reactor: Reactor) -> RoomShard {
        key.value(on: reactor) { makeShard(on: reactor) }
    }

    // MARK: Matches' rooms

    /// Opens rooms. A peer that connects because of a reminder sent after this call finds its room open.
    package func open(_ rooms: [UUID]) {
        forEachHome(of: rooms) { $0.open($1) }
    }

    /// Closes rooms, and tells who is in them.
    package func close(_ rooms: [UUID]) {
        forEachHome(of: rooms) { $0.close($1) }
    }

    /// Gives a message to everybody in a room on this daemon.
    package func announce(_ message: any Message, in room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).publish(message, to: room) }
    }

    /// Gives a message, in a moment, to those on this daemon who say that they are one of these people, in whatever match's room.
    package func announce(_ message: any Message, toPeople people: Set<UUID>) {
        guard !people.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0).publish(message, toPeople: people) } }
    }

    /// Remembers for a moment that a room can't be entered.
    package func remember(_ state: RoomState, of room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).remember(state, of: room) }
    }

    // MARK: Subscriptions

    /// Whether nobody subscribes to anything.
    package var hasNoSubscribers: Bool { subscriptions.load(ordering: .relaxed) == 0 }

    /// Has a peer told what is published to a room, on the peer's loop. Ends with ``unsubscribe(_:)``.
    package func subscribe(_ peer: any RoomPeer, to room: UUID, on reactor: Reactor) -> Connection {
        subscriptions.add(1, ordering: .relaxed)
        return shard(on: reactor).enter(room, peer, policy: .subscription)
    }

    /// Does nothing the second time. On the connection's loop.
    package func unsubscribe(_ connection: Connection) {
        guard connection.isMember else { return }
        subscriptions.subtract(1, ordering: .relaxed)
        connection.leave()
    }

    /// Gives messages to all who subscribe to their rooms, on whatever loop, in this order.
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
