package import FoundationEssentials

/// The loops that share the rooms, as seen from one loop.
package struct RoomLoops: Sendable {
    let own: Int
    let homeIndex: @Sendable (UUID) -> Int
    /// Submits work on the rooms of another loop, in order.
    let submit: @Sendable (Int, @escaping @Sendable (RoomShard) -> Void) -> Void

    package init(
        own: Int, homeIndex: @escaping @Sendable (UUID) -> Int,
        submit: @escaping @Sendable (Int, @escaping @Sendable (RoomShard) -> Void) -> Void
    ) {
        self.own = own
        self.homeIndex = homeIndex
        self.submit = submit
    }

    /// A single loop, the home of all rooms.
    package static let one = RoomLoops(own: 0, homeIndex: { _ in 0 }, submit: { _, _ in })
}

/// The lanes of a loop to all loops, and its members of rooms on any loop.
struct Lanes {
    let loops: RoomLoops
    /// The lanes used so far, at most one per loop.
    var all: [Lane] = []
    var members: [MemberID: Member] = [:]
    private var lastMember: MemberID = 0

    init(_ loops: RoomLoops) {
        self.loops = loops
    }

    mutating func nextMember() -> MemberID {
        lastMember += 1
        return lastMember
    }

    /// The lane of the loop to itself.
    var own: Lane? { all.first { $0.target == loops.own } }
}

/// Members of rooms on other loops. The loops exchange requests and deliveries once per turn.
extension RoomShard {
    /// Makes a sender for a socket on this loop.
    package func makeSender() -> Sender {
        Sender(on: self)
    }

    func lane(toHomeOf room: UUID) -> Lane {
        lane(to: lanes.loops.homeIndex(room))
    }

    private func lane(to index: Int) -> Lane {
        if let lane = lanes.all.first(where: { $0.target == index }) { return lane }
        let lane = Lane(to: index, of: self)
        lanes.all.append(lane)
        return lane
    }

    // MARK: The end of a turn

    /// Performs the requests of this loop's members to the rooms of this loop, before the rooms are settled.
    func takeOwnRequests() {
        guard let lane = lanes.own else { return }
        for request in lane.takeRequests() { perform(request, from: lane) }
    }

    /// Sends the mail, after the rooms were settled.
    func carryMail() {
        for lane in lanes.all where lane.hasMail {
            if lane.target == lanes.loops.own {
                take(lane.takeMail(), from: lane)
            } else {
                send(by: lane)
            }
        }
    }

    private func send(by lane: Lane) {
        guard lane.hasMail, lane.flight.departs() else { return }
        let mail = lane.takeMail()
        let (flight, loops, target) = (lane.flight, lanes.loops, lane.target)
        loops.submit(target) { shard in
            let moreWaits = flight.arrives()
            shard.take(mail, from: shard.lane(to: loops.own))
            if moreWaits { loops.submit(loops.own) { $0.send(by: $0.lane(to: target)) } }
        }
    }

    private func take(_ mail: Mail, from lane: Lane) {
        for request in mail.requests { perform(request, from: lane) }
        for delivery in mail.deliveries { perform(delivery) }
    }

    // MARK: On the home loop

    private func perform(_ request: RoomRequest, from lane: Lane) {
        switch request {
        case .enter(let member, let room, let policy, let claimedIdentity, let others):
            let siblings = others.compactMap { lane.proxies[$0] }
            let decision = decision(of: room, policy: policy, for: claimedIdentity, besides: siblings)
            if case .open = decision {
                let connection = enter(
                    room, MemberProxy(for: member, at: lane), policy: policy, claimedIdentity: claimedIdentity,
                    besides: siblings)
                lane.proxies[member] = connection
                people.unite([connection] + siblings)
            }
            lane.add(.decided(member, decision))
        case .cheer(let count, let kind, let members):
            let members = members.map { lane.proxies[$0] }
            // If the sender is missing, the room has closed meanwhile.
            if case .some(let sender?) = members.first {
                cheer(count, of: kind, from: sender, besides: members.compactMap(\.self))
            }
        case .publish(let message, let members):
            let members = members.map { lane.proxies[$0] }
            if case .some(let sender?) = members.first {
                publish(message, to: sender.room.id) { member in members.contains { $0 === member } }
            }
        case .watchPresence(let member):
            lane.proxies[member]?.watchPresence()
        case .leave(let member):
            lane.proxies.removeValue(forKey: member)?.leave()
        }
    }

    // MARK: On the members' loop

    private func perform(_ delivery: RoomDelivery) {
        switch delivery {
        case .decided(let member, let decision):
            lanes.members[member]?.decide(decision)
        case .ales(let count, let kind, let member):
            lanes.members[member]?.peer.deliver(ales: count, of: kind, frame: cheering.frames[Int(kind.rawValue)])
        case .published(let message, let members):
            let publication = Publication(message)
            for member in members { lanes.members[member]?.peer.deliver(publication) }
        case .closed(let member):
            lanes.members[member]?.close()
        }
    }
}
