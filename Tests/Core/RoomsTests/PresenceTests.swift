import Basics
import FoundationEssentials
import Testing

@testable import Rooms

/// The number of people in a room, as members with presence receive it.
@Suite struct PresenceTests {
    private let rooms = RoomsUnderTest(grace: .seconds(15))
    private let room = UUID()

    private func enter(as person: UUID? = nil, watches: Bool = false) -> (peer: RecordingPeer, connection: Connection) {
        let peer = RecordingPeer()
        let connection = rooms.shard.enter(room, peer, policy: .match(capacity: 10), claimedIdentity: person)
        if watches { connection.watchPresence() }
        return (peer, connection)
    }

    /// Advances by a second, after which changes are sent.
    private func advance(by time: Duration = .seconds(1)) {
        rooms.loop.advance(by: time)
        rooms.loop.endTurn()
    }

    @Test("A watcher receives the count at once, and changes at most once a second")
    func changes() {
        let silent = enter()
        let first = enter(watches: true)
        #expect(first.peer.counts == [2])
        let second = enter(watches: true)
        #expect(second.peer.counts == [3])
        advance(by: .zero)
        #expect(first.peer.counts == [2, 3])
        let others = (0..<3).map { _ in enter() }
        advance(by: .milliseconds(999))
        #expect(first.peer.counts == [2, 3])
        advance(by: .milliseconds(1))
        #expect(first.peer.counts == [2, 3, 6])
        #expect(second.peer.counts == [3, 6])
        for other in others { other.connection.leave() }
        advance()
        #expect(first.peer.counts == [2, 3, 6, 3])
        #expect(silent.peer.counts.isEmpty)
    }

    @Test("A change that is undone within the second isn't reported")
    func flapping() {
        let watcher = enter(watches: true)
        let other = enter()
        advance()
        enter().connection.leave()
        advance()
        #expect(watcher.peer.counts == [1, 2])
        other.connection.leave()
        advance()
        #expect(watcher.peer.counts == [1, 2, 1])
    }

    @Test("A named person who returns within the grace period never left")
    func grace() {
        let person = UUID()
        let watcher = enter(watches: true)
        let first = enter(as: person)
        advance()
        first.connection.leave()
        advance(by: .milliseconds(14_900))
        let second = enter(as: person)
        advance(by: .seconds(20))
        #expect(watcher.peer.counts == [1, 2])
        second.connection.leave()
        advance(by: .milliseconds(14_999))
        #expect(watcher.peer.counts == [1, 2])
        advance(by: .milliseconds(1))
        advance()
        #expect(watcher.peer.counts == [1, 2, 1])
    }

    @Test("A partner has each state: expected, present, disconnected, returned and left")
    func partner() {
        let (ada, bob) = (UUID(), UUID())
        let watcher = enter(as: ada, watches: true)
        // A user's second connection is not the user's partner.
        enter(as: ada).connection.leave()
        advance(by: .seconds(16))
        #expect(watcher.peer.partners == [.expected])
        let first = enter(as: bob, watches: true)
        #expect(first.peer.partners == [.here])
        advance()
        first.connection.leave()
        advance()
        #expect(watcher.peer.partners == [.expected, .here, .away])
        let second = enter(as: bob)
        advance()
        second.connection.leave()
        advance()
        advance(by: .seconds(15))
        advance()
        #expect(watcher.peer.partners == [.expected, .here, .away, .here, .away, .left])
        // When Ada returns at once, she still learns that her partner was there.
        watcher.connection.leave()
        #expect(enter(as: ada, watches: true).peer.partners == [.left])
    }

    @Test("An unnamed member may be the partner, but receives no partner state")
    func unnamedPartner() {
        let watcher = enter(as: UUID(), watches: true)
        let silent = enter(watches: true)
        advance()
        silent.connection.leave()
        advance()
        #expect(watcher.peer.partners == [.expected, .here, .left])
        #expect(silent.peer.partners.isEmpty)
    }

    @Test("A partner's connections on other daemons count")
    func partnerElsewhere() {
        let (ada, bob) = (UUID(), UUID())
        let watcher = enter(as: ada, watches: true)
        for members in [
            RoomMembers(connections: 2, people: [ada, bob]), RoomMembers(connections: 1, people: [ada, bob]),
            RoomMembers(connections: 0, people: [bob]), RoomMembers(connections: 1, people: [bob]), RoomMembers(),
        ] {
            rooms.shard.setElsewhere([MembersOfRoom(room, members)])
            advance()
        }
        #expect(watcher.peer.partners == [.expected, .here, .away, .here, .left])
    }

    @Test("A named person counts once, and each unnamed connection counts as a person")
    func people() {
        let person = UUID()
        let watcher = enter(watches: true)
        let connections = [enter(as: person), enter(as: person)]
        advance()
        #expect(watcher.peer.counts == [1, 2])
        connections[0].connection.leave()
        advance(by: .seconds(30))
        #expect(watcher.peer.counts == [1, 2])
        let unnamed = [enter(), enter()]
        advance()
        unnamed[0].connection.leave()
        advance()
        #expect(watcher.peer.counts == [1, 2, 4, 3])
    }

    @Test("A closed room removes its people and reports nothing")
    func closing() {
        let person = UUID()
        let watcher = enter(watches: true)
        enter(as: person).connection.leave()
        rooms.shard.close([room])
        advance(by: .seconds(20))
        #expect(watcher.peer.counts == [1])
        #expect(rooms.shard.boards.isEmpty)
        #expect(rooms.shard.people.nextExpiry == nil)
        #expect(enter(watches: true).peer.counts == [1])
    }

    @Test("Members of other daemons count for the room's size and for presence")
    func elsewhere() {
        let person = UUID()
        let watcher = enter(as: person, watches: true)
        rooms.shard.setElsewhere([
            MembersOfRoom(room, RoomMembers(connections: 8, anonymous: 6, people: [person, UUID()]))
        ])
        advance()
        #expect(watcher.peer.counts == [1, 8])
        #expect(enter().connection.isMember)
        #expect(!enter().connection.isMember)
        guard case .full = rooms.shard.decision(of: room, policy: .match(capacity: 10)) else {
            return #expect(Bool(false), "the room is full")
        }
        advance()
        #expect(rooms.reported.map(\.peers) == [1, 10])
        rooms.shard.part()
        advance()
        #expect(watcher.peer.counts.last == 2)
    }
}

/// The number of people in a large room, where thousands may join within a minute.
@Suite struct LargeRoomPresenceTests {
    private final class NewsRecorder: @unchecked Sendable {
        // Sendable holds: a manual loop is called by one test, on one thread.
        var all: [RoomNews] = []
    }

    private let rooms = RoomsUnderTest(grace: .seconds(15))
    private let room = UUID()

    private func enter(as person: UUID? = nil, watches: Bool = true) -> (peer: RecordingPeer, connection: Connection) {
        let peer = RecordingPeer()
        let connection = rooms.shard.enter(room, peer, policy: .audience, claimedIdentity: person)
        if watches { connection.watchPresence() }
        return (peer, connection)
    }

    private func advance(by time: Duration = .seconds(1)) {
        rooms.loop.advance(by: time)
        rooms.loop.endTurn()
    }

    @Test(
        "All members are notified of a new one at most once a second"
    )
    func counts() {
        let person = UUID()
        let first = enter(as: person)
        #expect(first.peer.counts.isEmpty)
        advance(by: .zero)
        #expect(first.peer.counts == [1])
        let others = (0..<5).map { _ in enter() }
        let again = enter(as: person)
        let silent = enter(watches: false)
        advance(by: .milliseconds(999))
        #expect((others + [again]).allSatisfy { $0.peer.counts.isEmpty })
        advance(by: .milliseconds(1))
        #expect(([first, again] + others).allSatisfy { $0.peer.counts.last == 7 })
        #expect(silent.peer.counts.isEmpty)
        for peer in [first, again] { peer.connection.leave() }
        advance(by: .seconds(14))
        #expect(others[0].peer.counts == [7])
        advance()
        advance()
        #expect(others[0].peer.counts == [7, 6])
        #expect(rooms.reported.isEmpty && rooms.shard.occupancy == (0, 0))
        // A client that returns to an empty room gets no earlier counts.
        for peer in others + [silent] { peer.connection.leave() }
        let late = enter()
        advance()
        #expect(late.peer.counts == [1])
    }

    @Test(
        "Members are counted at most once a second"
    )
    func looks() {
        let now = rooms.loop.now
        let (watcher, other) = (enter(), enter())
        var board = PresenceBoard()
        for peer in [watcher, other] { board.add(peer.connection, sent: PresenceCount(2)) }
        #expect(board.changed(at: now) == .zero)
        #expect(board.takeNotifications(at: now, isPaced: true) { _ in PresenceCount(2) }.isEmpty)
        #expect(board.changed(at: now) == PresenceBoard.interval)
        board.remove(other.connection)
        let notified = board.takeNotifications(at: now + PresenceBoard.interval, isPaced: true) { _ in
            PresenceCount(1)
        }
        #expect(notified.map(\.1) == [PresenceCount(1)] && notified.first?.0 === watcher.connection)
        board.remove(watcher.connection)
        #expect(board.isEmpty)
    }

    @Test("Other daemons are notified of presence at most twice a second")
    func news() {
        let news = NewsRecorder()
        rooms.shard.join { news.all.append($0) }
        let people = (0..<4).map { _ in UUID() }
        var peers: [(peer: RecordingPeer, connection: Connection)] = []
        for person in people {
            peers.append(enter(as: person))
            rooms.loop.endTurn()
        }
        #expect(news.all.isEmpty)
        advance(by: .milliseconds(500))
        let all = RoomMembers(connections: 4, people: Set(people))
        #expect(news.all.map(\.members) == [[MembersOfRoom(room, all)]])
        rooms.shard.setElsewhere([
            MembersOfRoom(room, RoomMembers(connections: 3, anonymous: 1, people: [people[0], UUID()]))
        ])
        advance()
        #expect(peers[0].peer.counts.last == 6)
        for peer in peers { peer.connection.leave() }
        advance(by: .milliseconds(500))
        advance(by: .seconds(15))
        advance(by: .milliseconds(500))
        let (before, after) = (RoomMembers(people: Set(people)), RoomMembers())
        #expect(news.all.dropFirst().map(\.members) == [before, after].map { [MembersOfRoom(room, $0)] })
        rooms.shard.part()
        let last = enter()
        advance()
        #expect(news.all.count == 3 && last.peer.counts == [1])
    }
}

/// The messages from a loop's rooms to other daemons.
@Suite struct RoomNewsTests {
    private final class NewsRecorder: @unchecked Sendable {
        // Sendable holds: a manual loop is called by one test, on one thread.
        var all: [RoomNews] = []
    }

    private let rooms = RoomsUnderTest(grace: .seconds(15))
    private let news = NewsRecorder()
    private let room = UUID()

    private func join() {
        rooms.shard.join { [news] in news.all.append($0) }
    }

    private func enter(as person: UUID? = nil) -> (peer: RecordingPeer, connection: Connection) {
        let peer = RecordingPeer()
        return (peer, rooms.shard.enter(room, peer, policy: .match(capacity: 10), claimedIdentity: person))
    }

    @Test("A loop reports members only after it has joined other daemons")
    func members() {
        let first = enter()
        rooms.loop.endTurn()
        join()
        rooms.loop.endTurn()
        _ = enter()
        enter().connection.leave()
        rooms.loop.endTurn()
        #expect(
            news.all.map(\.members)
                == [1, 2].map { [MembersOfRoom(room, RoomMembers(connections: $0, anonymous: $0))] })
        rooms.loop.endTurn()
        #expect(news.all.count == 2)
        rooms.shard.part()
        first.connection.leave()
        rooms.loop.endTurn()
        #expect(news.all.count == 2)
    }

    @Test("A member that leaves in the first reported turn isn't reported afterwards")
    func firstTurn() {
        let first = enter()
        rooms.loop.endTurn()
        join()
        first.connection.leave()
        rooms.loop.endTurn()
        #expect(news.all.map(\.members) == [[MembersOfRoom(room, RoomMembers())]])
    }

    @Test("A room that closes within its last person's grace period is reported as empty")
    func closedWithinTheGrace() {
        let person = UUID()
        join()
        enter(as: person).connection.leave()
        rooms.loop.endTurn()
        rooms.shard.close([room])
        rooms.loop.endTurn()
        #expect(
            news.all.flatMap(\.members)
                == [MembersOfRoom(room, RoomMembers(people: [person])), MembersOfRoom(room, RoomMembers())])
    }

    @Test(
        "Only own ales are reported to other daemons, added up"
    )
    func ales() {
        let peers = [enter(), enter()]
        join()
        rooms.loop.endTurn()
        news.all = []
        peers[0].connection.cheer()
        rooms.loop.endTurn()
        rooms.shard.setElsewhere([MembersOfRoom(room, RoomMembers(connections: 1, anonymous: 1))])
        for _ in 0..<3 { peers[0].connection.cheer() }
        rooms.shard.deliver([RoomNews.Ales(room, 7)])
        peers[1].connection.cheer()
        rooms.loop.endTurn()
        #expect(news.all.flatMap(\.ales).map(\.count) == [3, 1])
        #expect(peers.map(\.peer.ales) == [8, 11])
        rooms.shard.setElsewhere([MembersOfRoom(room, RoomMembers())])
        peers[0].connection.cheer()
        rooms.loop.endTurn()
        #expect(news.all.count == 1)
    }

    @Test("The last ale of a member that leaves in the same turn is reported")
    func lastWord() {
        let peer = enter()
        join()
        rooms.loop.endTurn()
        news.all = []
        rooms.shard.setElsewhere([MembersOfRoom(room, RoomMembers(connections: 1, anonymous: 1))])
        peer.connection.cheer()
        peer.connection.leave()
        rooms.loop.endTurn()
        #expect(news.all.flatMap(\.ales) == [RoomNews.Ales(room, 1)])
        #expect(news.all.flatMap(\.members) == [MembersOfRoom(room, RoomMembers())])
    }
}
