import FoundationEssentials
import Sockets
import Testing

@testable import Rooms

/// The rooms of a loop without sockets. Peers record what they receive, and the test sets the clock.
@Suite struct RoomShardTests {
    private let rooms = RoomsUnderTest()
    private let room = UUID()
    private static let policy = RoomPolicy.match(capacity: 3)

    private func enter(_ peer: RecordingPeer, _ room: UUID? = nil, as identity: UUID? = nil) -> Connection {
        rooms.shard.enter(room ?? self.room, peer, policy: Self.policy, claimedIdentity: identity)
    }

    @Test("An ale reaches every other member once, at the end of the turn")
    func ale() {
        let peers = (0..<3).map { _ in RecordingPeer() }
        let connections = peers.map { enter($0) }
        let elsewhere = RecordingPeer()
        _ = enter(elsewhere, UUID())
        connections[0].cheer()
        #expect(peers.allSatisfy { $0.events.isEmpty })
        rooms.loop.endTurn()
        #expect(peers.map(\.events) == [[], [.ales(1)], [.ales(1)]])
        #expect(elsewhere.events.isEmpty)
        rooms.loop.endTurn()
        #expect(peers[1].events == [.ales(1)])
    }

    @Test(
        "A member receives the ales of each kind from others since it entered"
    )
    func kinds() {
        let early = [RecordingPeer(), RecordingPeer()]
        let connections = early.map { enter($0) }
        for _ in 0..<3 { connections[0].cheer(.clap) }
        connections[1].cheer(.clap)
        connections[1].cheer(.fire)
        connections[0].cheer()
        let late = RecordingPeer()
        let newcomer = enter(late)
        newcomer.cheer(.fire)
        connections[0].cheer(.clap)
        rooms.loop.endTurn()
        #expect(
            early.map(\.events) == [
                [.cheers(1, .clap), .cheers(2, .fire)], [.ales(1), .cheers(4, .clap), .cheers(1, .fire)],
            ])
        #expect(late.events == [.cheers(1, .clap)])
        connections[0].cheer()
        rooms.loop.endTurn()
        #expect(early[1].events.last == .ales(1) && late.events.last == .ales(1))
    }

    @Test("A member receives all ales of a turn from others since it entered")
    func owed() {
        let early = [RecordingPeer(), RecordingPeer()]
        let connections = early.map { enter($0) }
        for _ in 0..<5 { connections[0].cheer() }
        connections[1].cheer()
        let late = RecordingPeer()
        let newcomer = enter(late)
        connections[0].cheer()
        newcomer.cheer()
        rooms.loop.endTurn()
        #expect(early.map(\.events) == [[.ales(2)], [.ales(7)]])
        #expect(late.events == [.ales(1)])
    }

    @Test("A message for a person reaches each of the person's members after the ales")
    func people() {
        let person = UUID()
        let members = [(RecordingPeer(), room), (RecordingPeer(), room), (RecordingPeer(), UUID())]
        for (peer, room) in members {
            let connection = enter(peer, room, as: person)
            peer.react = { _ in connection.leave() }
        }
        let others = [RecordingPeer(), RecordingPeer()]
        let cheering = enter(others[0])
        _ = rooms.shard.enter(UUID(), others[1], policy: .participants, claimedIdentity: person)
        cheering.cheer()
        rooms.shard.publish(Numbered(number: 1), toPeople: [UUID()])
        rooms.shard.publish(Numbered(number: 1), toPeople: [person, UUID()])
        rooms.loop.advance(by: People.pendingMessageDelay)
        #expect(members.map(\.0.events) == [[.ales(1), .message(1)], [.ales(1), .message(1)], [.message(1)]])
        #expect(others.allSatisfy { $0.events.isEmpty })
        #expect(rooms.shard.occupancy == (1, 1))
    }

    @Test("A member that left neither receives nor sends")
    func left() {
        let peers = [RecordingPeer(), RecordingPeer()]
        let connections = peers.map { enter($0) }
        connections[0].cheer()
        for connection in connections { connection.leave() }
        let next = [RecordingPeer(), RecordingPeer()]
        let others = next.map { enter($0) }
        others[0].cheer()
        connections[0].cheer()
        connections[1].leave()
        rooms.loop.endTurn()
        #expect(peers.allSatisfy { $0.events.isEmpty })
        #expect(next.map(\.events) == [[], [.ales(1)]])
        #expect(rooms.shard.occupancy == (1, 2))
    }

    @Test(
        "A message reaches all members at once and in order, after earlier ales"
    )
    func messages() {
        let peers = (0..<3).map { _ in RecordingPeer() }
        let connections = peers.map { enter($0) }
        connections[0].cheer()
        rooms.shard.publish(Numbered(number: 1), to: room)
        connections[0].cheer()
        rooms.shard.publish(Numbered(number: 2), to: room, from: connections[1])
        rooms.shard.publish(Numbered(number: 3), to: UUID())
        rooms.loop.endTurn()
        #expect(peers[0].events == [.message(1), .message(2)])
        #expect(peers[1].events == [.ales(1), .message(1), .ales(1)])
        #expect(peers[2].events == [.ales(1), .message(1), .ales(1), .message(2)])
        #expect(peers[0].forms.first == peers[2].forms.first && peers[0].forms.last == peers[2].forms.last)
        #expect(Set(peers[0].forms).count == 2)
    }

    @Test("A member that enters or leaves during a delivery doesn't receive the message")
    func changesWhileDelivering() {
        let peers = (0..<3).map { _ in RecordingPeer() }
        let connections = peers.map { enter($0) }
        let newcomer = RecordingPeer()
        peers[0].react = { _ in
            connections[1].leave()
            _ = self.enter(newcomer)
        }
        rooms.shard.publish(Numbered(number: 1), to: room)
        #expect(peers.map(\.messages) == [[1], [], [1]])
        #expect(newcomer.messages.isEmpty)
        peers[0].react = nil
        rooms.shard.publish(Numbered(number: 2), to: room)
        #expect(newcomer.messages == [2])
    }

    @Test("A closing room sends its ales, notifies its members, and is then empty")
    func closing() {
        let peers = [RecordingPeer(), RecordingPeer()]
        let connections = peers.map { enter($0) }
        connections[0].cheer()
        rooms.shard.close([room, UUID()])
        rooms.loop.endTurn()
        #expect(peers.map(\.events) == [[.closed], [.ales(1), .closed]])
        for connection in connections { connection.leave() }
        #expect(rooms.shard.occupancy == (0, 0))
        rooms.loop.advance(by: .seconds(1))
        #expect(rooms.reported.map(\.kind) == [.joined, .joined])
    }

    @Test("A room holds the number of members that its policy permits")
    func capacity() {
        let connections = (0..<4).map { _ in enter(RecordingPeer()) }
        #expect(connections.map(\.isMember) == [true, true, true, false])
        guard case .full = rooms.shard.decision(of: room, policy: Self.policy) else {
            Issue.record("a full room accepts another member")
            return
        }
        connections[3].leave()
        connections[1].leave()
        guard case .open = rooms.shard.decision(of: room, policy: Self.policy) else {
            Issue.record("a room isn't open after a member left")
            return
        }
        #expect(enter(RecordingPeer()).isMember)
    }

    @Test("Entries and departures are reported together, with the identities of members")
    func presence() {
        let ada = UUID()
        let connections = [enter(RecordingPeer(), as: ada), enter(RecordingPeer())]
        #expect(rooms.reported.isEmpty)
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.map(\.peers) == [1, 2])
        #expect(rooms.reported.map(\.claimedIdentity) == [ada, nil])
        connections[0].leave()
        connections[0].leave()
        // A subscription isn't reported.
        rooms.shard.enter(UUID(), RecordingPeer(), policy: .subscription).leave()
        #expect(rooms.shard.takePresenceEvents().map(\.peers) == [1])
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.count == 2)
    }

    @Test(
        "A roll call lists the people in matches' rooms")
    func rollCall() {
        let (ada, other) = (UUID(), UUID())
        let connections = [ada, ada, nil].map { enter(RecordingPeer(), as: $0) }
        connections[0].leave()
        _ = rooms.shard.enter(other, RecordingPeer(), policy: Self.policy)
        _ = rooms.shard.enter(UUID(), RecordingPeer(), policy: .subscription)
        _ = rooms.shard.enter(UUID(), RecordingPeer(), policy: .audience)
        #expect(rooms.reported.isEmpty)
        let attendees = rooms.shard.callRoll(7)
        #expect(
            attendees == [
                Attendee(room: room, claimedIdentity: ada): 1, Attendee(room: room, claimedIdentity: nil): 1,
                Attendee(room: other, claimedIdentity: nil): 1,
            ])
        #expect(rooms.reported.map(\.rollCall) == [0, 0, 0, 0, 0])
        connections[1].leave()
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.dropFirst(5).map(\.rollCall) == [7])
        rooms.shard.close([room])
        #expect(rooms.shard.callRoll(8) == [Attendee(room: other, claimedIdentity: nil): 1])
    }

    @Test("A rush is reported after it ends, or after one second")
    func rush() {
        func comeMany() {
            for _ in 0..<PresenceReporter.rush { enterAnyRoom() }
            rooms.loop.advance(by: PresenceReporter.delay)
        }
        comeMany()
        comeMany()
        #expect(rooms.reported.isEmpty)
        enterAnyRoom()
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.count == 2 * PresenceReporter.rush + 1)
        // The timer of the burst has ended, and a new report is sent after its own delay.
        enterAnyRoom()
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.count == 2 * PresenceReporter.rush + 2)

        for _ in 1..<PresenceReporter.mostLooks { comeMany() }
        #expect(rooms.reported.count == 2 * PresenceReporter.rush + 2)
        comeMany()
        #expect(rooms.reported.count == (2 + PresenceReporter.mostLooks) * PresenceReporter.rush + 2)
    }

    @Test("During a large rush some entries are reported before it ends")
    func reportLimit() {
        let count = 2 * PresenceReporter.limit + 1
        for _ in 0..<count { enterAnyRoom() }
        #expect(rooms.reported.count == count - 1)
        rooms.loop.advance(by: PresenceReporter.delay)
        #expect(rooms.reported.count == count)
    }

    private func enterAnyRoom() {
        _ = rooms.shard.enter(UUID(), RecordingPeer(), policy: Self.policy)
    }
}

/// The rooms that can be entered, and the refusals that are remembered.
@Suite struct RoomAdmissionTests {
    private let rooms = RoomsUnderTest(anyRoomIsOpen: false)
    private let room = UUID()
    private static let policy = RoomPolicy.match(capacity: 3)

    private var decision: String {
        switch rooms.shard.decision(of: room, policy: Self.policy) {
        case .open: "open"
        case .full, .fullUnlessTask: "full"
        case .unknown: "unknown"
        case .refused(let state, let age): "\(state), \(age)"
        }
    }

    @Test("A room can be entered while it is open")
    func open() {
        #expect(decision == "unknown")
        #expect(!rooms.shard.enter(room, RecordingPeer(), policy: Self.policy).isMember)
        rooms.shard.open([room])
        #expect(decision == "open" && rooms.shard.openCount == 1)
        #expect(rooms.shard.enter(room, RecordingPeer(), policy: Self.policy).isMember)
        rooms.shard.close([room])
        #expect(decision == "unknown" && rooms.shard.openCount == 0)
    }

    @Test("A refusal is valid for a second, unless the room opens")
    func refusals() {
        rooms.shard.remember(.closed, of: room)
        #expect(decision == "closed, 0.0 seconds")
        rooms.loop.advance(by: .milliseconds(999))
        #expect(decision == "closed, 0.999 seconds")
        rooms.loop.advance(by: .milliseconds(1))
        #expect(decision == "unknown")
        rooms.shard.remember(.notOpen(opensAt: 1000.5, now: 1000), of: room)
        rooms.loop.advance(by: .milliseconds(499))
        #expect(decision.hasPrefix("notOpen"))
        rooms.loop.advance(by: .milliseconds(1))
        #expect(decision == "unknown")
        rooms.shard.remember(.unknown, of: room)
        rooms.shard.open([room])
        #expect(decision == "open")
    }

    @Test("Random ids fill the cache of refusals only up to its limit")
    func flood() {
        var cache = RefusalCache()
        let first = UUID()
        cache.insert(.unknown, of: first, at: rooms.loop.now)
        #expect(cache.refusal(of: first, at: rooms.loop.now) != nil)
        for _ in 0..<RefusalCache.capacity { cache.insert(.unknown, of: UUID(), at: rooms.loop.now) }
        #expect(cache.refusal(of: first, at: rooms.loop.now) == nil)
    }
}
