package import FoundationEssentials
package import Sockets
import Synchronization

/// All rooms of this daemon, on all of its event loops. May be used from anywhere.
///
/// A match's room lives on one loop, its home, to which sockets of one room move: what is said there never leaves the thread. A socket
/// of several rooms stays where it is (``Sender``). A subscription has a part on each loop with somebody who listens.
package final class Rooms: Sendable {
    private let loops: [EventLoop]
    private let key = LoopLocal<RoomShard>()
    private let anyRoomIsOpen: Bool
    private let aleFrames: [[UInt8]]
    private let grace: Duration
    private let report: @Sendable ([PresenceEvent]) -> Void
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

    /// The index of the loop that is a room's home.
    package func homeIndex(of room: UUID) -> Int {
        let halves = withUnsafeBytes(of: room.uuid) {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        // The multiplication spreads ids that differ in a few bits only, as made-up ones do. All of them reach the upper bits of the
        // product, and these decide.
        let mixed = (halves.0 ^ halves.1) &* 0x9E37_79B9_7F4A_7C15
        return Int(((mixed >> 32) &* UInt64(loops.count)) >> 32)
    }

    /// The rooms of a loop. On that loop.
    package func shard(on reactor: Reactor) -> RoomShard {
        key.value(on: reactor) {
            RoomShard(
                on: reactor, anyRoomIsOpen: anyRoomIsOpen, aleFrames: aleFrames, grace: grace,
                loops: RoomLoops(
                    own: reactor.index, homeIndex: { [weak self] in self?.homeIndex(of: $0) ?? 0 },
                    submit: { [weak self] in self?.submit(to: $0, $1) }),
                report: report)
        }
    }

    private func submit(to index: Int, _ work: @escaping @Sendable (RoomShard) -> Void) {
        loops[index].submit { work(self.shard(on: $0)) }
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

    private func forEachHome(of rooms: [UUID], _ body: @escaping @Sendable (RoomShard, [UUID]) -> Void) {
        for (index, rooms) in Dictionary(grouping: rooms, by: homeIndex(of:)) {
            loops[index].submit { body(self.shard(on: $0), rooms) }
        }
    }

    /// Remembers for a moment that a room can't be entered.
    package func remember(_ state: RoomState, of room: UUID) {
        loops[homeIndex(of: room)].submit { self.shard(on: $0).remember(state, of: room) }
    }

    /// Who came and went and was not told of yet: for a daemon that stops.
    package func takePresenceEvents() async -> [PresenceEvent] {
        var events: [PresenceEvent] = []
        for loop in loops { events += await loop.run { self.shard(on: $0).takePresenceEvents() } }
        return events
    }

    /// Who is in matches' rooms on this daemon, and how many connections that is of each: on each loop at a moment of its own. What came
    /// before that moment is reported by the time that this returns, and what comes after it bears the number, which is to grow from call
    /// to call.
    package func callRoll(_ number: UInt32) async -> [Attendee: Int] {
        var attendees: [Attendee: Int] = [:]
        for loop in loops {
            attendees.merge(await loop.run { self.shard(on: $0).callRoll(number) }, uniquingKeysWith: +)
        }
        return attendees
    }

    /// Matches' rooms that are open, those with somebody in them, and the connections in these.
    package func census() async -> (open: Int, occupied: Int, connections: Int) {
        var sum = (open: 0, occupied: 0, connections: 0)
        for loop in loops {
            let part = await loop.run { reactor in
                let shard = self.shard(on: reactor)
                return (shard.openCount, shard.occupancy.rooms, shard.occupancy.connections)
            }
            sum = (sum.open + part.0, sum.occupied + part.1, sum.connections + part.2)
        }
        return sum
    }

    // MARK: Other daemons

    /// There are other daemons: `tell` is called with who is in which room, and from then on with the news of each loop's turn, on
    /// that loop.
    func join(_ tell: @escaping @Sendable (RoomNews) -> Void) {
        for loop in loops { loop.submit { self.shard(on: $0).join(tell) } }
    }

    /// There are none any more.
    func part() async {
        for loop in loops { await loop.run { self.shard(on: $0).part() } }
    }

    /// Who is in these rooms on other daemons, all of them together.
    func setElsewhere(_ rooms: [MembersOfRoom]) {
        for (index, rooms) in Dictionary(grouping: rooms, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).setElsewhere(rooms) }
        }
    }

    /// Gives ales of other daemons to everybody in their rooms.
    func deliver(_ ales: [RoomNews.Ales]) {
        for (index, ales) in Dictionary(grouping: ales, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).deliver(ales) }
        }
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
