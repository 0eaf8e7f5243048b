package import FoundationEssentials

/// A socket that is in matches' rooms without moving to their loops. It may be in several rooms, or several times in
/// one. Its own members don't receive its ales. Must be used on the socket's loop.
///
/// ```
/// let sender = rooms.shard(on: reactor).makeSender()                  // one for each socket
/// let member = sender.enter(room, peer, policy: policy) { decision in
///     switch decision {
///     case .open:     …          // it is in: its peer receives messages from now on
///     case .full:     …
///     case .refused:  …          // as the database reported a moment ago
///     case .unknown:  …          // ask the database, open or remember the room, and enter again
///     }
/// }
/// member.watchPresence()          // after it came in, or at once: no count is sent before
/// member.cheer()
/// member.leave()                  // or, when the socket is closed:
/// sender.leaveAll()
/// ```
///
/// The room's home loop decides about these members and counts them like all others. A ``MemberProxy`` represents each
/// of them there. Requests therefore take effect a moment later, in their order.
package final class Sender {
    fileprivate unowned let shard: RoomShard
    /// The members of this sender, including those without a decision yet. There are few, in no particular order.
    private var members: [Member] = []

    init(on shard: RoomShard) {
        self.shard = shard
    }

    /// Requests to enter a room. A second request for the same room makes a second member, which also receives
    /// everything.
    ///
    /// - Parameters:
    /// - peer: Receives the room's messages from `whenDecided` until ``Member/leave()``.
    /// - claimedIdentity: The identity that the peer claims. Not verified.
    /// - whenDecided: Called once, later, on this loop; never after ``Member/leave()``. ``EntryDecision/open`` means
    ///   that it is in.
    package func enter(
        _ room: UUID, _ peer: any RoomPeer, policy: RoomPolicy, claimedIdentity: UUID? = nil,
        whenDecided: @escaping (EntryDecision) -> Void
    ) -> Member {
        let member = Member(shard.queues.nextMember(), peer, in: room, of: self, whenDecided)
        let request = RoomRequest.enter(
            member.id, room: room, policy: policy, claimedIdentity: claimedIdentity, besides: ids(in: room))
        members.append(member)
        shard.queues.members[member.id] = member
        shard.queue(toHomeOf: room).add(request)
        return member
    }

    /// Leaves all rooms, because the socket is closed.
    package func leaveAll() {
        for member in members { member.leave() }
    }

    fileprivate func ids(in room: UUID) -> [MemberID] {
        members.compactMap { $0.room == room ? $0.id : nil }
    }

    /// Puts later ales into a new entry, so that they follow the messages published so far.
    fileprivate func closeEntries(in room: UUID) {
        for member in members where member.room == room { member.cheers = AleEntries() }
    }

    fileprivate func remove(_ member: Member) {
        members.removeAll { $0 === member }
        shard.queues.members[member.id] = nil
    }
}

/// A sender's membership in one room. Must be used on the sender's loop.
package final class Member {
    private enum State {
        case undecided((EntryDecision) -> Void)
        case member
        /// Refused, or left.
        case gone
    }

    package let room: UUID
    package let peer: any RoomPeer
    let id: MemberID
    private let sender: Sender
    private var state: State
    /// The entries of the unsent batch to which more ales can be added.
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

    /// Whether the member is in its room, as far as this loop knows.
    package var isMember: Bool {
        if case .member = state { true } else { false }
    }

    /// Sends an ale to all members of the room except this sender's. Does nothing if the member isn't in its room.
    package func cheer(_ kind: CheerKind = .plain) {
        guard isMember else { return }
        queue.addCheer(kind, in: &cheers) { memberIDs }
    }

    /// Sends a message to all members of the room except this sender's. Does nothing if the member isn't in its room.
    package func publish(_ message: any Message) {
        guard isMember else { return }
        queue.add(.publish(message, by: memberIDs))
        sender.closeEntries(in: room)
    }

    /// See ``Connection/watchPresence()``.
    package func watchPresence() {
        if case .gone = state { return }
        queue.add(.watchPresence(id))
    }

    /// Leaves the room. The member then receives no more messages, not even those in flight. A second call, or a call
    /// after the room has closed, does nothing.
    package func leave() {
        if case .gone = state { return }
        end()
        queue.add(.leave(id))
    }

    /// The ids of this sender's members in the room, beginning with this member.
    private var memberIDs: [MemberID] { [id] + sender.ids(in: room).filter { $0 != id } }
    private var queue: LoopQueue { sender.shard.queue(toHomeOf: room) }

    private func end() {
        state = .gone
        sender.remove(self)
    }

    // MARK: Messages from the home loop

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
