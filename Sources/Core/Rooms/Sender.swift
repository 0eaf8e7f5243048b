package import FoundationEssentials

/// A socket that is in matches' rooms without moving to their loops: in several perhaps, or in one of them several times. What it says in
/// a room none of its places there hears. On the socket's loop.
///
/// ```
/// let sender = rooms.shard(on: reactor).makeSender()                  // one for each socket
/// let member = sender.enter(room, peer, policy: policy) { decision in
///     switch decision {
///     case .open:     …          // it is in: its peer is told what comes from now on
///     case .full:     …
///     case .refused:  …          // as the database said a moment ago
///     case .unknown:  …          // ask the database, have it opened or remembered, and enter again
///     }
/// }
/// member.watchPresence()          // after it came in, or at once: it is told nothing before
/// member.cheer()
/// member.leave()                  // when it doesn't want to hear more; or, when the socket is gone:
/// sender.leaveAll()
/// ```
///
/// The room's home decides, on its own loop, and counts those members like all others: they have a ``StandIn`` there. So whatever is
/// asked of a room here takes effect a moment later, in the order of asking.
package final class Sender {
    fileprivate unowned let shard: RoomShard
    /// Its places, also those that nobody has decided about yet. Few; in no order.
    private var places: [Member] = []

    init(on shard: RoomShard) {
        self.shard = shard
    }

    /// Asks for a place in a room, once more if it has one already: then it hears all of the room twice.
    ///
    /// - Parameters:
    ///   - peer: Told what comes, from `whenDecided` on until ``Member/leave()``.
    ///   - claimedIdentity: Which of those whom the room is for the peer says it is; not checked here.
    ///   - whenDecided: Called later, on this loop, once; never after ``Member/leave()``. ``EntryDecision/open``: it is in.
    package func enter(
        _ room: UUID, _ peer: any RoomPeer, policy: RoomPolicy, claimedIdentity: UUID? = nil,
        whenDecided: @escaping (EntryDecision) -> Void
    ) -> Member {
        let member = Member(shard.lanes.nextMember(), peer, in: room, of: self, whenDecided)
        let request = RoomRequest.enter(
            member.id, room: room, policy: policy, claimedIdentity: claimedIdentity, besides: ids(in: room))
        places.append(member)
        shard.lanes.members[member.id] = member
        shard.lane(toHomeOf: room).add(request)
        return member
    }

    /// The socket is gone.
    package func leaveAll() {
        for place in places { place.leave() }
    }

    fileprivate func ids(in room: UUID) -> [MemberID] {
        places.compactMap { $0.room == room ? $0.id : nil }
    }

    /// What it says from now on comes after all that it has said.
    fileprivate func closeEntries(in room: UUID) {
        for place in places where place.room == room { place.cheers = AleEntries() }
    }

    fileprivate func remove(_ member: Member) {
        places.removeAll { $0 === member }
        shard.lanes.members[member.id] = nil
    }
}

/// A sender's place in one room. On the sender's loop.
package final class Member {
    private enum State {
        case undecided((EntryDecision) -> Void)
        case member
        /// Not let in, or gone.
        case gone
    }

    package let room: UUID
    package let peer: any RoomPeer
    let id: MemberID
    private let sender: Sender
    private var state: State
    /// Where its ales add up until they are carried to the room's home.
    fileprivate var cheers = AleEntries()

    fileprivate init(
        _ id: MemberID, _ peer: any RoomPeer, in room: UUID, of sender: Sender,
        _ whenDecided: @escaping (EntryDecision) -> Void
    ) {
        self.id = id
        self.peer = peer
        self.room = room
        self.sender = sender
        state = .undecided(whenDecided)
    }

    /// Whether it is in its room, as far as this loop knows.
    package var isMember: Bool {
        if case .member = state { true } else { false }
    }

    /// An ale for everybody in the room but its sender. Of who isn't in its room, nothing comes.
    package func cheer(_ kind: CheerKind = .plain) {
        guard isMember else { return }
        lane.addCheer(kind, in: &cheers) { places }
    }

    /// Gives a message to everybody in the room but its sender. Of who isn't in its room, nothing comes.
    package func publish(_ message: any Message) {
        guard isMember else { return }
        lane.add(.publish(message, by: places))
        sender.closeEntries(in: room)
    }

    /// As ``Connection/watchPresence()``.
    package func watchPresence() {
        if case .gone = state { return }
        lane.add(.watchPresence(id))
    }

    /// Nothing comes any more, also of what is on its way. Does nothing the second time, or when the room has closed.
    package func leave() {
        if case .gone = state { return }
        end()
        lane.add(.leave(id))
    }

    /// All that the sender has in the room, this one first.
    private var places: [MemberID] { [id] + sender.ids(in: room).filter { $0 != id } }
    private var lane: Lane { sender.shard.lane(toHomeOf: room) }

    private func end() {
        state = .gone
        sender.remove(self)
    }

    // MARK: What the home says

    func decide(_ decision: EntryDecision) {
        guard case .undecided(let whenDecided) = state else { return }
        if case .open = decision { state = .member } else { end() }
        whenDecided(decision)
    }

    func close() {
        end()
        peer.roomClosed()
    }
}
