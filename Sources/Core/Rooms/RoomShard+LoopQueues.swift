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

/// The queues from one loop to all loops, and that loop's members of rooms on any loop.
struct LoopQueues {
    let loops: RoomLoops
    /// The queues used so far, at most one per loop.
    var all: [LoopQueue] = []
    var members: [MemberID: Member] = [:]
    private var lastMember: MemberID = 0

    init(_ loops: RoomLoops) {
        self.loops = loops
    }

    mutating func nextMember() -> MemberID {
        lastMember += 1
        return lastMember
    }

    /// The queue of the loop to itself.
    var own: LoopQueue? { all.first { $0.target == loops.own } }
}

/// Members of rooms on other loops. The loops exchange requests and events once per turn.
extension RoomShard {
    /// Makes a sender for a socket on this loop.
    package func makeSender() -> Sender {
        Sender(on: self)
    }

    func queue(toHomeOf room: UUID) -> LoopQueue {
        queue(to: queues.loops.homeIndex(room))
    }

    private func queue(to index: Int) -> LoopQueue {
        if let queue = queues.all.first(where: { $0.target == index }) { return queue }
        let queue = LoopQueue(to: index, of: self)
        queues.all.append(queue)
        return queue
    }

    // MARK: The end of a turn

    /// Performs the requests of this loop's members to the rooms of this loop, before the rooms are settled.
    func takeOwnRequests() {
        guard let queue = queues.own else { return }
        for request in queue.takeRequests() { perform(request, from: queue) }
    }

    /// Sends a batch to each loop that has no batch in flight, after the rooms were settled.
    func sendBatches() {
        for queue in queues.all where !queue.isEmpty {
            if queue.target == queues.loops.own {
                take(queue.takeBatch(), from: queue)
            } else {
                send(from: queue)
            }
        }
    }

    private func send(from queue: LoopQueue) {
        guard !queue.isEmpty, queue.flight.begin() else { return }
        let batch = queue.takeBatch()
        let (flight, loops, target) = (queue.flight, queues.loops, queue.target)
        loops.submit(target) { shard in
            let anotherWaits = flight.end()
            shard.take(batch, from: shard.queue(to: loops.own))
            if anotherWaits { loops.submit(loops.own) { $0.send(from: $0.queue(to: target)) } }
        }
    }

    private func take(_ batch: LoopBatch, from queue: LoopQueue) {
        for request in batch.requests { perform(request, from: queue) }
        for event in batch.events { perform(event) }
    }

    // MARK: On the home loop

    private func perform(_ request: RoomRequest, from queue: LoopQueue) {
        switch request {
        case .enter(let member, let room, let policy, let claimedIdentity, let others):
            let siblings = others.compactMap { queue.proxies[$0] }
            let decision = decision(of: room, policy: policy, for: claimedIdentity, besides: siblings)
            if case .open = decision {
                let connection = enter(
                    room, MemberProxy(for: member, at: queue), policy: policy, claimedIdentity: claimedIdentity,
                    besides: siblings)
                queue.proxies[member] = connection
                people.unite([connection] + siblings)
            }
            queue.add(.decided(member, decision))
        case .cheer(let count, let kind, let members):
            let members = members.map { queue.proxies[$0] }
            // If the sender is missing, the room has closed since the member sent the request.
            if case .some(let sender?) = members.first {
                cheer(count, of: kind, from: sender, besides: members.compactMap(\.self))
            }
        case .publish(let message, let members):
            let members = members.map { queue.proxies[$0] }
            if case .some(let sender?) = members.first {
                publish(message, to: sender.room.id) { member in members.contains { $0 === member } }
            }
        case .watchPresence(let member):
            queue.proxies[member]?.watchPresence()
        case .leave(let member):
            queue.proxies.removeValue(forKey: member)?.leave()
        }
    }

    // MARK: On the members' loop

    private func perform(_ event: MemberEvent) {
        switch event {
        case .decided(let member, let decision):
            queues.members[member]?.decide(decision)
        case .ales(let count, let kind, let member):
            queues.members[member]?.peer.deliver(ales: count, of: kind, frame: cheering.frames[Int(kind.rawValue)])
        case .published(let message, let members):
            let publication = Publication(message)
            for member in members { queues.members[member]?.peer.deliver(publication) }
        case .closed(let member):
            queues.members[member]?.close()
        }
    }
}
