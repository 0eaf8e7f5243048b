import Basics
import FoundationEssentials
import Glibc
import Testing

@testable import Rooms

/// The states of two or more daemons as values, with lost packets between them.
@Suite struct RelayStateTests {
    private let room = UUID()

    @Test("Ales go only to daemons with members in the room")
    func interest() {
        let daemons = RelaysUnderTest(3)
        daemons[0].enter(room, 1)
        daemons[1].enter(room, 1)
        daemons[2].enter(UUID(), 1)
        daemons.settle()
        daemons[0].publish(3, in: room)
        daemons[1].publish(2, in: room)
        daemons.settle()
        #expect(daemons.all.map { $0.received[room] ?? 0 } == [2, 3, 0])
        daemons[1].enter(room, 0)
        daemons.settle()
        daemons[0].publish(1, in: room)
        let batch = daemons[0].state.nextBatch()
        #expect(batch.packets.isEmpty)
        #expect(daemons.all.allSatisfy { $0.lost == 0 })
    }

    @Test("A room without members elsewhere costs no packet")
    func alone() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 2)
        daemons.settle()
        daemons[0].publish(5, in: room)
        #expect(daemons[0].state.nextBatch().isEmpty)
    }

    @Test("Members on other daemons are added up, and a person counts once")
    func members() {
        let daemons = RelaysUnderTest(3)
        let person = UUID()
        daemons[0].enter(room, 2, people: [person])
        daemons[1].enter(room, 3, people: [person])
        daemons.settle()
        let elsewhere = daemons[2].state.membersElsewhere(of: room)
        #expect(elsewhere == RoomMembers(connections: 5, anonymous: 3, people: [person]))
        #expect(daemons[0].state.membersElsewhere(of: room).connections == 3)
    }

    @Test("A receiver counts lost ales exactly")
    func loss() {
        let daemons = RelaysUnderTest(2)
        for index in 0..<2 { daemons[index].enter(room, 1) }
        daemons.settle()
        daemons[0].publish(1, in: room)
        daemons.settle()
        daemons[1].isAway = true
        daemons[0].publish(4, in: room)
        daemons.settle()
        daemons[1].isAway = false
        daemons[0].publish(2, in: room)
        daemons.settle()
        #expect(daemons[1].received[room] == 3)
        #expect(daemons[1].lost == 4)
        #expect(daemons[0].lost == 0)
    }

    @Test("Ales lost before the first received one are counted", arguments: 0..<2)
    func lossAtTheBeginning(_ first: Int) {
        let daemons = RelaysUnderTest(2)
        for index in [first, 1 - first] {
            daemons[index].enter(room, 1)
            daemons.settle()
        }
        daemons[1].isAway = true
        daemons[0].publish(3, in: room)
        daemons.settle()
        daemons[1].isAway = false
        daemons[0].publish(1, in: room)
        daemons.settle()
        #expect(daemons[1].received[room] == 1)
        #expect(daemons[1].lost == 3)
    }

    @Test("Ales lost at the end are counted when the bus is back")
    func lossAtTheEnd() {
        let daemons = RelaysUnderTest(2)
        for index in 0..<2 { daemons[index].enter(room, 1) }
        daemons.settle()
        daemons[1].isAway = true
        daemons[1].state.busLost()
        daemons[0].publish(4, in: room)
        daemons.settle()
        daemons[1].isAway = false
        daemons[1].state.busConnected()
        daemons.settle()
        #expect(daemons[1].lost == 4)
    }

    @Test("Other daemons count the ales that a disconnected sender couldn't send")
    func away() {
        let daemons = RelaysUnderTest(2)
        for index in 0..<2 { daemons[index].enter(room, 1) }
        daemons.settle()
        daemons[0].state.busLost()
        daemons[0].publish(6, in: room)
        daemons.settle()
        #expect(daemons[0].dropped == 6)
        daemons[0].state.busConnected()
        daemons.settle()
        #expect(daemons[1].lost == 6)
        daemons[0].publish(1, in: room)
        daemons.settle()
        #expect(daemons[1].received[room] == 1)
        #expect(daemons[1].lost == 6)
    }

    @Test("A daemon that missed an entry or departure learns it with the next beat")
    func missedNews() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 1)
        daemons.settle()
        daemons[1].isAway = true
        daemons[0].enter(room, 4)
        let other = UUID()
        daemons[0].enter(other, 1)
        daemons.settle()
        daemons[1].isAway = false
        #expect(daemons[1].state.membersElsewhere(of: room).connections == 1)
        daemons.beat()
        #expect(daemons[1].state.membersElsewhere(of: room).connections == 4)
        #expect(daemons[1].state.membersElsewhere(of: other).connections == 1)
    }

    @Test("A daemon that missed the list of all rooms receives later changes with the next beat")
    func missedGreeting() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 1)
        daemons.settle()
        daemons[0].state.busLost()
        daemons[0].enter(room, 4)
        daemons.settle()
        daemons[1].isAway = true
        daemons[0].state.busConnected()
        daemons.settle()
        daemons[1].isAway = false
        #expect(daemons[1].state.membersElsewhere(of: room).connections == 1)
        daemons.beat()
        #expect(daemons[1].state.membersElsewhere(of: room).connections == 4)
    }

    @Test("A daemon that missed a departure learns it from the list of all rooms")
    func missedEnd() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 1)
        for _ in 0..<40 { daemons[0].enter(UUID(), 1) }
        daemons.settle()
        daemons[1].isAway = true
        daemons[0].enter(room, 0)
        daemons.settle()
        daemons[1].isAway = false
        daemons.beat()
        #expect(daemons[1].state.membersElsewhere(of: room).isEmpty)
    }

    @Test("A new daemon receives all rooms, and sends all of its own")
    func newcomer() {
        let daemons = RelaysUnderTest(2)
        let rooms = (0..<50).map { _ in UUID() }
        for room in rooms { daemons[0].enter(room, 1) }
        daemons[1].state.busLost()
        daemons.settle()
        for room in rooms.prefix(3) { daemons[1].enter(room, 2) }
        daemons[1].state.busConnected()
        daemons.settle()
        #expect(rooms.allSatisfy { daemons[1].state.membersElsewhere(of: $0).connections == 1 })
        #expect(rooms.prefix(3).allSatisfy { daemons[0].state.membersElsewhere(of: $0).connections == 2 })
    }

    @Test("A killed daemon's members are removed at once, and a stopped daemon's people after the grace period")
    func ends() throws {
        let daemons = RelaysUnderTest(3)
        let person = UUID()
        for index in 0..<2 { daemons[index].enter(room, 2, people: [person]) }
        daemons.settle()
        let last = daemons[0].state.lastBatch().packets
        for packet in last {
            daemons[2].apply(try daemons[2].state.receive(packet.bytes, from: daemons[0].id, at: daemons.now))
        }
        #expect(
            daemons[2].state.membersElsewhere(of: room)
                == RoomMembers(connections: 2, anonymous: 1, people: [person]))
        _ = daemons[2].state.remove([daemons[1].id])
        #expect(daemons[2].state.membersElsewhere(of: room) == RoomMembers(people: [person]))
        // The daemon's row in the database is deleted too.
        _ = daemons[2].state.remove([daemons[0].id])
        #expect(daemons[2].state.membersElsewhere(of: room) == RoomMembers(people: [person]))
        _ = daemons[2].state.beat(at: daemons.now + .seconds(15), isAnswered: true)
        #expect(daemons[2].state.membersElsewhere(of: room).isEmpty)
    }

    @Test("A daemon that returns early is asked for its members at once")
    func isBack() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 2)
        daemons.settle()
        daemons[1].apply(daemons[1].state.remove([daemons[0].id]))
        #expect(daemons[1].state.membersElsewhere(of: room).isEmpty)
        daemons.settle()
        #expect(daemons[1].state.membersElsewhere(of: room).connections == 2)
        // The daemon was silent, so no answer is pending.
        _ = daemons[1].state.beat(at: daemons.now, isAnswered: true)
        _ = daemons[1].state.nextBatch()
        _ = daemons[1].state.remove([daemons[0].id])
        #expect(daemons[1].state.nextBatch().isEmpty)
    }

    @Test(
        "A slow bus carries gathered ales up to its capacity, and the rest counts as lost")
    func flood() {
        let daemons = RelaysUnderTest(2)
        for index in 0..<2 { daemons[index].enter(room, 1) }
        daemons.settle()
        let limit = RelayState.alesAtOnce
        for _ in 0..<3 { daemons[0].publish(limit, in: room) }
        daemons.settle()
        #expect(daemons[1].received[room] == Int(limit))
        #expect(daemons[0].dropped == 2 * UInt64(limit) && daemons[1].lost == 2 * UInt64(limit))
        daemons[0].publish(1, in: room)
        daemons.settle()
        #expect(daemons[1].received[room] == Int(limit) + 1)
        #expect(daemons[1].lost == 2 * UInt64(limit))
    }

    @Test("A daemon that is silent for half a minute counts as gone while the bus works")
    func silence() {
        let daemons = RelaysUnderTest(2)
        daemons[0].enter(room, 1)
        daemons.settle()
        let listener = daemons[1]
        func beatAlone(_ times: Int) {
            // Its own echoes come back.
            for _ in 0..<times { listener.apply(listener.state.beat(at: daemons.now, isAnswered: true)) }
        }
        beatAlone(14)
        daemons.beat()
        beatAlone(14)
        #expect(listener.state.membersElsewhere(of: room).connections == 1)
        listener.state.busLost()
        beatAlone(40)
        listener.state.busConnected()
        #expect(listener.state.membersElsewhere(of: room).connections == 1)
        beatAlone(16)
        #expect(listener.state.membersElsewhere(of: room).isEmpty)
        daemons.beat()
        #expect(listener.state.membersElsewhere(of: room).connections == 1)
    }

    @Test("While the bus refuses packets, no daemon counts as gone")
    func refusedByTheBus() {
        let daemons = RelaysUnderTest(2)
        for index in 0..<2 { daemons[index].enter(room, 1) }
        daemons.settle()
        for _ in 0..<40 {
            daemons.now = daemons.now + .seconds(2)
            for daemon in daemons.all {
                daemon.apply(daemon.state.beat(at: daemons.now, isAnswered: false))
                daemon.publish(1, in: room)
                // The bus refuses the whole batch.
                daemon.dropped += daemon.state.nextBatch().ales.reduce(0) { $0 + UInt64($1) }
                daemon.state.announceAgain()
            }
        }
        #expect(daemons.all.map { $0.state.membersElsewhere(of: room).connections } == [1, 1])
        #expect(daemons.all.map(\.dropped) == [40, 40])
        daemons.settle()
        #expect(daemons.all.map(\.lost) == [40, 40])
    }

    @Test("A room's report costs the same among many rooms as among few")
    func manyRooms() {
        /// The time to process the list of all rooms, on this thread.
        func work(_ count: Int) -> Double {
            let sender = RelayUnderTest()
            let receiver = RelayUnderTest()
            for _ in 0..<count { sender.enter(UUID(), 1) }
            sender.state.busConnected()
            let packets = sender.state.nextBatch().packets
            let start = Self.threadTime()
            for packet in packets { _ = try? receiver.state.receive(packet.bytes, from: sender.id, at: now) }
            return Self.threadTime() - start
        }
        let (few, many) = (work(1_000), work(32_000))
        // Linear work takes 32 times as long, or somewhat longer because of caches. If each room cost time for all
        // others, it would take a thousand times as long.
        #expect(many < 300 * few)
    }

    private let now = MonotonicTime(nanoseconds: 1_000_000_000)

    private static func threadTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test("An invalid packet of another daemon doesn't end this one", arguments: 0..<32)
    func garbage(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        var state = RelayState(id: DaemonID(), packetSize: 200, grace: .seconds(15))
        state.busConnected()
        var news = RoomNews()
        news.members = [MembersOfRoom(room, RoomMembers(connections: 1, anonymous: 1))]
        state.take(news)
        let daemon = DaemonID()
        for _ in 0..<200 {
            var bytes = RelayMessage.ales([.init(room: room, first: random.next(), count: 1)]).bytes
            bytes[1] = UInt8(random.next(below: 11))
            bytes += (0..<random.next(below: 60)).map { _ in UInt8(random.next(below: 256)) }
            if random.next(below: 4) == 0 { bytes.removeLast(random.next(below: bytes.count)) }
            _ = try? state.receive(bytes, from: daemon, at: MonotonicTime(nanoseconds: 1))
            _ = state.nextBatch()
        }
    }
}
