import Basics
import FoundationEssentials
import Sockets
import TestSupport
import Testing

@testable import Rooms

/// Sockets that stay on their own loop, as members of rooms on other loops.
@Suite struct SenderTests {
    private let loops = LoopsUnderTest(3)
    private static let policy = RoomPolicy.match(capacity: 5)

    /// A member of a room, and the decisions that it received.
    private struct Membership {
        final class Decisions {
            var all: [EntryDecision] = []
        }

        let peer: RecordingPeer
        let member: Member
        let decisions: Decisions

        var isIn: Bool {
            if case .open? = decisions.all.first { member.isMember && decisions.all.count == 1 } else { false }
        }

        var isFull: Bool {
            if case .full? = decisions.all.first { !member.isMember && decisions.all.count == 1 } else { false }
        }
    }

    private func enter(_ room: UUID, _ sender: Sender, as identity: UUID? = nil) -> Membership {
        let (peer, decisions) = (RecordingPeer(), Membership.Decisions())
        let member = sender.enter(room, peer, policy: Self.policy, claimedIdentity: identity) {
            decisions.all.append($0)
        }
        return Membership(peer: peer, member: member, decisions: decisions)
    }

    private func enterAtHome(_ room: UUID) -> (peer: RecordingPeer, connection: Connection) {
        let peer = RecordingPeer()
        return (peer, loops.home(of: room).enter(room, peer, policy: Self.policy))
    }

    @Test(
        "Members of all loops and transports receive others' ales once"
    )
    func ales() {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        let memberships = loops.shards.map { enter(room, $0.makeSender()) }
        loops.settle()
        #expect(memberships.allSatisfy { $0.isIn })
        for membership in memberships { membership.member.cheer() }
        socket.connection.cheer()
        loops.settle()
        #expect(memberships.map(\.peer.ales) == [3, 3, 3])
        #expect(socket.peer.ales == 3)
        #expect(loops.home(of: room).occupancy == (1, 4))
    }

    @Test(
        "A sender with several members receives none of its own ales", arguments: 0..<2)
    func severalMembers(_ loop: Int) {
        let room = loops.room(on: 0)
        let sender = loops.shards[loop].makeSender()
        let memberships = [enter(room, sender), enter(room, sender)]
        let other = enter(room, loops.shards[loop].makeSender())
        let socket = enterAtHome(room)
        loops.settle()
        memberships[0].member.cheer()
        memberships[0].member.cheer()
        memberships[1].member.cheer()
        memberships[0].member.publish(Numbered(number: 1))
        other.member.cheer()
        socket.connection.cheer()
        loops.settle()
        #expect(memberships.map(\.peer.ales) == [2, 2])
        #expect(memberships.map(\.peer.messages) == [[], []])
        #expect(other.peer.ales == 4 && socket.peer.ales == 4)
        #expect(other.peer.messages == [1] && socket.peer.messages == [1])
        memberships[0].member.leave()
        memberships[0].member.cheer()
        memberships[1].member.cheer()
        loops.settle()
        #expect(memberships.map(\.peer.ales) == [2, 2])
        #expect(socket.peer.ales == 5)
    }

    @Test("A new member is confirmed first, and receives ales from then on", arguments: 0..<2)
    func newcomer(_ loop: Int) {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        socket.connection.cheer()
        let membership = enter(room, loops.shards[loop].makeSender())
        #expect(membership.decisions.all.isEmpty)
        // An ale sent before the member is in the room is dropped.
        membership.member.cheer()
        loops.settle()
        #expect(membership.isIn && membership.peer.ales <= 1 && socket.peer.events.isEmpty)
        let before = membership.peer.ales
        socket.connection.cheer()
        loops.settle()
        #expect(membership.peer.ales == before + 1)
    }

    @Test("A message reaches every member after earlier ales, and is encoded once per form and loop")
    func messages() {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        let memberships = (0..<2).map { _ in enter(room, loops.shards[1].makeSender()) }
        loops.settle()
        memberships[0].member.cheer()
        memberships[0].member.publish(Numbered(number: 1))
        memberships[0].member.cheer()
        loops.settle()
        #expect(socket.peer.events == [.ales(1), .message(1), .ales(1)])
        #expect(memberships[1].peer.events == [.ales(1), .message(1), .ales(1)])
        #expect(memberships[0].peer.events.isEmpty)
        loops.home(of: room).publish(Numbered(number: 2), to: room, from: socket.connection)
        loops.settle()
        #expect(memberships.map(\.peer.messages) == [[2], [1, 2]])
        #expect(memberships[0].peer.forms.last == memberships[1].peer.forms.last)
        #expect(socket.peer.messages == [1])
    }

    @Test("Ales add up while the other loop is busy")
    func pressure() {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        let membership = enter(room, loops.shards[1].makeSender())
        loops.settle()
        for _ in 0..<100 {
            socket.connection.cheer()
            loops.endTurn(of: 0)
            membership.member.cheer()
            loops.endTurn(of: 1)
        }
        #expect(loops.waiting(for: 0) == 1 && loops.waiting(for: 1) == 1)
        loops.settle()
        #expect(membership.peer.events == [.ales(1), .ales(99)])
        #expect(socket.peer.events == [.ales(1), .ales(99)])
    }

    @Test("Members of both kinds count for the capacity of a room")
    func capacity() {
        let room = loops.room(on: 0)
        let sockets = (0..<2).map { _ in enterAtHome(room) }
        let memberships = (0..<4).map { enter(room, loops.shards[$0 % 3].makeSender()) }
        loops.settle()
        #expect(memberships.filter { $0.isIn }.count == 3)
        let full = memberships.filter { $0.isFull }
        #expect(full.count == 1)
        #expect(!enterAtHome(room).connection.isMember)
        sockets[0].connection.leave()
        let next = enter(room, loops.shards[2].makeSender())
        loops.settle()
        #expect(next.isIn)
        for membership in memberships + [next] { membership.member.leave() }
        // This member was refused, so its ale does nothing.
        full.first?.member.cheer()
        loops.settle()
        #expect(loops.home(of: room).occupancy == (1, 1))
        #expect(loops.shards.allSatisfy { $0.queues.members.isEmpty })
        #expect(loops.shards.allSatisfy { $0.queues.all.allSatisfy { $0.proxies.isEmpty } })
    }

    @Test("A sender's members count once for the capacity of a room")
    func extraMembers() {
        let room = loops.room(on: 0)
        let sender = loops.shards[1].makeSender()
        let memberships = (0..<1_003).map { _ in enter(room, sender) }
        loops.settle()
        #expect(memberships.count { $0.isIn } == 1_001 && memberships.count { $0.isFull } == 2)
        // Four more connections may enter.
        for number in 0..<5 { #expect(enterAtHome(room).connection.isMember == (number < 4)) }
        for membership in memberships { membership.member.leave() }
        loops.settle()
        #expect(enterAtHome(room).connection.isMember)
        #expect(loops.home(of: room).sharedMembers.extraMembers(in: room) == 0)
    }

    @Test("A member that leaves receives no messages, including those in flight")
    func leaving() {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        let sender = loops.shards[1].makeSender()
        let membership = enter(room, sender)
        loops.settle()
        socket.connection.cheer()
        loops.endTurn(of: 0)
        // The last ale of a leaving member is delivered.
        membership.member.cheer()
        let undecided = enter(room, sender)
        sender.leaveAll()
        loops.settle()
        #expect(membership.peer.events.isEmpty && undecided.decisions.all.isEmpty)
        #expect(socket.peer.ales == 1)
        #expect(loops.home(of: room).occupancy == (1, 1))
        membership.member.leave()
        loops.settle()
        #expect(loops.home(of: room).occupancy == (1, 1))
    }

    @Test("A closing room notifies members on all loops after their ales")
    func closing() {
        let room = loops.room(on: 0)
        let socket = enterAtHome(room)
        let memberships = loops.shards.map { enter(room, $0.makeSender()) }
        loops.settle()
        socket.connection.cheer()
        loops.home(of: room).close([room])
        for membership in memberships { membership.member.cheer() }
        loops.settle()
        for membership in memberships {
            #expect(membership.peer.events == [.ales(1), .closed])
            #expect(!membership.member.isMember)
            membership.member.leave()
        }
        #expect(socket.peer.events == [.closed])
        loops.advance(by: .seconds(1))
        #expect(loops.reported.map(\.kind) == [.joined, .joined, .joined, .joined])
        #expect(loops.home(of: room).occupancy == (0, 0))
    }

    @Test("Entries and departures are reported by the home loop")
    func reports() {
        let room = loops.room(on: 0)
        let ada = UUID()
        let membership = enter(room, loops.shards[2].makeSender(), as: ada)
        loops.settle()
        membership.member.leave()
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(loops.reported.map(\.kind) == [.joined, .left])
        #expect(loops.reported.map(\.claimedIdentity) == [ada, ada])
        #expect(loops.reported.map(\.peers) == [1, 0])
    }

    @Test("Presence counts all members, and each sender once")
    func presence() {
        let room = loops.room(on: 0)
        let watcher = enter(room, loops.shards[1].makeSender())
        watcher.member.watchPresence()
        loops.settle()
        #expect(watcher.peer.counts == [1])
        let sender = loops.shards[2].makeSender()
        let memberships = [enter(room, sender), enter(room, sender), enter(room, sender)]
        _ = enterAtHome(room)
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(watcher.peer.counts.last == 3)
        memberships[0].member.leave()
        memberships[2].member.leave()
        loops.advance(by: .seconds(30))
        #expect(watcher.peer.counts.last == 3)
        memberships[1].member.leave()
        loops.settle()
        // A member without a person has no grace period.
        loops.advance(by: .seconds(1))
        #expect(watcher.peer.counts.last == 2)
        let person = UUID()
        let others = [1, 2].map { enter(room, loops.shards[$0].makeSender(), as: person) }
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(others.allSatisfy { $0.isIn })
        #expect(watcher.peer.counts.last == 3)
    }

    @Test("An unnamed partner is present until the last of its members leaves")
    func partnerWithSeveralMembers() {
        let room = loops.room(on: 0)
        let watcher = enter(room, loops.shards[1].makeSender(), as: UUID())
        watcher.member.watchPresence()
        let sender = loops.shards[2].makeSender()
        let memberships = [enter(room, sender), enter(room, sender)]
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(watcher.peer.partners.last == .here)
        memberships[0].member.leave()
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(watcher.peer.partners.last == .here)
        memberships[1].member.leave()
        loops.settle()
        loops.advance(by: .seconds(1))
        #expect(watcher.peer.partners.last == .left)
    }

    @Test("Other daemons receive a room's news once, from its home")
    func otherDaemons() {
        let room = loops.room(on: 0)
        let recorder = NewsRecorder()
        for shard in loops.shards { shard.join { recorder.news.append($0) } }
        let membership = enter(room, loops.shards[1].makeSender())
        _ = enter(room, loops.shards[0].makeSender())
        loops.home(of: room).setElsewhere([MembersOfRoom(room, RoomMembers(connections: 1, anonymous: 1))])
        loops.settle()
        membership.member.cheer()
        loops.settle()
        #expect(recorder.news.flatMap(\.ales) == [RoomNews.Ales(room, 1)])
        #expect(recorder.news.flatMap(\.members).last == MembersOfRoom(room, RoomMembers(connections: 2, anonymous: 2)))
        loops.home(of: room).deliver([RoomNews.Ales(room, 3)])
        loops.settle()
        #expect(membership.peer.ales == 3)
        #expect(recorder.news.flatMap(\.ales).count == 1)
    }

    private final class NewsRecorder: @unchecked Sendable {
        // Sendable holds: manual loops are called by one test, on one thread.
        var news: [RoomNews] = []
    }
}

/// The rooms that a sender can enter.
@Suite struct SenderAdmissionTests {
    private let loops = LoopsUnderTest(2, anyRoomIsOpen: false)

    @Test("The home loop gives the reasons of refusals, as for /socket", arguments: 0..<2)
    func refusals(_ loop: Int) {
        let room = loops.room(on: 0)
        var standings: [String] = []
        func enter() {
            let sender = loops.shards[loop].makeSender()
            let member = sender.enter(room, RecordingPeer(), policy: .match(capacity: 1)) {
                switch $0 {
                case .open: standings.append("open")
                case .full, .fullUnlessTask: standings.append("full")
                case .refused(let state, _): standings.append("\(state)")
                case .unknown: standings.append("unknown")
                }
            }
            loops.settle()
            #expect(member.isMember == (standings.last == "open"))
        }
        enter()
        loops.home(of: room).remember(.closed, of: room)
        enter()
        loops.home(of: room).open([room])
        enter()
        enter()
        #expect(standings == ["unknown", "closed", "open", "full"])
    }
}

/// Senders on real loops.
@Suite struct SenderLoopTests {
    /// The peers, accessed on the loop.
    private final class Peers {
        var all: [(peer: RecordingPeer, member: Member)] = []
    }

    private let key = LoopLocal<Peers>()

    @Test("Each ale reaches every other member on every loop once")
    func ales() async throws {
        let group = try EventLoopGroup(count: 3)
        for loop in group.loops { await loop.start() }
        let rooms = Rooms(loops: group.loops, anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in })
        let room = UUID()
        for loop in group.loops {
            await loop.run { reactor in
                let peers = key.value(on: reactor) { Peers() }
                for _ in 0..<2 {
                    let peer = RecordingPeer()
                    let sender = rooms.shard(on: reactor).makeSender()
                    let member = sender.enter(room, peer, policy: .match(capacity: 1_000)) { _ in }
                    peers.all.append((peer, member))
                }
            }
        }
        try await eventually("all are in") { await rooms.census().connections == 6 }
        for loop in group.loops {
            try await eventually("all know") {
                await loop.run { key.value(on: $0) { Peers() }.all.allSatisfy { $0.member.isMember } }
            }
        }
        for _ in 0..<200 {
            for loop in group.loops {
                loop.submit { reactor in
                    for (_, member) in key.value(on: reactor, make: { Peers() }).all { member.cheer() }
                }
            }
        }
        for loop in group.loops {
            try await eventually("all have received all") {
                await loop.run { key.value(on: $0) { Peers() }.all.map { $0.peer.ales } } == [1000, 1000]
            }
        }
        for loop in group.loops {
            await loop.run { reactor in
                for (_, member) in key.value(on: reactor, make: { Peers() }).all { member.leave() }
            }
        }
        try await eventually("nobody is in") { await rooms.census().connections == 0 }
        for loop in group.loops { await loop.stop() }
    }
}
