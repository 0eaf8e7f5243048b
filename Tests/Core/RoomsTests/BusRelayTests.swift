import Basics
import BusTestSupport
import FoundationEssentials
import Sockets
import TestSupport
import Testing

@testable import Rooms

/// Several daemons' rooms in one process, on a bus in memory.
@Suite struct BusRelayTests {
    /// A daemon with its rooms on one loop, and its relay.
    private final class Daemon: Sendable {
        let id = DaemonID()
        let rooms: Rooms
        let relay: BusRelay
        private let loop: EventLoop
        private let key = LoopLocal<Peers>()
        private let totals = Locked(Totals())

        struct Totals {
            var lost: UInt64 = 0
            var dropped: UInt64 = 0
            var delays: [Duration] = []
            var connections = 0
        }

        /// The peers, accessed on the loop.
        private final class Peers {
            var all: [(peer: RecordingPeer, connection: Connection)] = []
        }

        init(_ hub: MemoryHub) async throws {
            let group = try EventLoopGroup(count: 1)
            loop = try #require(group.loops.first)
            await loop.start()
            rooms = Rooms(
                loops: group.loops, anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, grace: .seconds(15),
                report: { _ in })
            let totals = SendableBox<@Sendable (RelayReport) -> Void>()
            relay = BusRelay(id, bus: hub.makeBus(id), rooms: rooms, grace: .seconds(15)) { totals.value?($0) }
            totals.set { [weak self] report in self?.take(report) }
            await relay.begin()
        }

        private func take(_ report: RelayReport) {
            totals.withLock { totals in
                switch report {
                case .lost(let ales): totals.lost += ales
                case .dropped(let ales): totals.dropped += ales
                case .delay(let delay): totals.delays.append(delay)
                case .connected: totals.connections += 1
                case .disconnected, .sent, .received, .introduced: break
                }
            }
        }

        var report: Totals { totals.withLock { $0 } }

        func enter(_ room: UUID, as person: UUID? = nil, watches: Bool = false) async {
            await loop.run { reactor in
                let peer = RecordingPeer()
                let connection = rooms.shard(on: reactor).enter(
                    room, peer, policy: .match(capacity: 100), claimedIdentity: person)
                if watches { connection.watchPresence() }
                peers(on: reactor).all.append((peer, connection))
            }
        }

        func cheer(_ index: Int = 0, times: Int = 1) async {
            await loop.run { reactor in
                for _ in 0..<times { peers(on: reactor).all[index].connection.cheer() }
            }
        }

        func leave(_ index: Int) async {
            await loop.run { reactor in peers(on: reactor).all[index].connection.leave() }
        }

        /// The number of ales that each peer received.
        var ales: [Int] {
            get async { await loop.run { reactor in peers(on: reactor).all.map(\.peer.ales) } }
        }

        var counts: [[Int]] {
            get async { await loop.run { reactor in peers(on: reactor).all.map(\.peer.counts) } }
        }

        /// Returns what this daemon knows about the room's members on other daemons.
        func elsewhere(_ room: UUID) async -> RoomMembers? {
            await loop.run { reactor in rooms.shard(on: reactor).link.members(of: room) }
        }

        private func peers(on reactor: Reactor) -> Peers { key.value(on: reactor) { Peers() } }

        func end() async {
            await relay.end()
            await loop.stop()
        }
    }

    private final class SendableBox<Value: Sendable>: Sendable {
        private let box = Locked<Value?>(nil)
        var value: Value? { box.withLock { $0 } }
        func set(_ value: Value) { box.withLock { $0 = value } }
    }

    private let hub = MemoryHub()
    private let room = UUID()

    private func daemons(_ count: Int) async throws -> [Daemon] {
        var daemons: [Daemon] = []
        for _ in 0..<count { daemons.append(try await Daemon(hub)) }
        return daemons
    }

    /// Waits until each daemon knows the number of connections in the room on the others.
    private func meet(_ daemons: [Daemon], _ counts: [Int]) async throws {
        for (daemon, count) in zip(daemons, counts) {
            try await eventually("the others' members are known") {
                await daemon.elsewhere(room)?.connections ?? 0 == count
            }
        }
    }

    @Test("Each ale reaches all other members on every daemon once")
    func ales() async throws {
        let daemons = try await daemons(3)
        for daemon in daemons { for _ in 0..<2 { await daemon.enter(room) } }
        try await meet(daemons, [4, 4, 4])
        for (index, daemon) in daemons.enumerated() {
            for _ in 0..<10 { await daemon.cheer(index % 2, times: index + 1) }
        }
        let wanted = [[50, 60], [60, 40], [30, 60]]
        for (daemon, wanted) in zip(daemons, wanted) {
            try await eventually("all ales have come") { await daemon.ales == wanted }
        }
        for daemon in daemons {
            #expect(daemon.report.lost == 0)
            await daemon.end()
        }
    }

    @Test("After a disconnection, receivers count lost ales and receive all later ones")
    func cut() async throws {
        let daemons = try await daemons(2)
        for daemon in daemons { await daemon.enter(room) }
        try await meet(daemons, [1, 1])
        hub.cut()
        await daemons[0].cheer(times: 7)
        try await eventually("what can't be sent is given up") { daemons[0].report.dropped == 7 }
        // A member joins while the bus is down.
        await daemons[1].enter(room)
        hub.heal()
        try await eventually("the loss is known") { daemons[1].report.lost == 7 }
        try await meet(daemons, [2, 1])
        await daemons[0].cheer()
        await daemons[1].cheer()
        try await eventually("ales cross again") { await daemons[1].ales == [1, 2] }
        try await eventually("both ways") { await daemons[0].ales == [1] }
        #expect(daemons[0].report.lost == 0)
        for daemon in daemons { await daemon.end() }
    }

    @Test("Dropped and lost packets are detected and counted")
    func refusal() async throws {
        let daemons = try await daemons(2)
        let sender = daemons[0].id
        let hasCounted = Locked(false)
        // Drops nothing. Detects the packet that tells the other daemon the sender's next number.
        hub.drop { packet, from, _ in
            if from == sender, case .counting = try? RelayMessage(packet.bytes) { hasCounted.withLock { $0 = true } }
            return false
        }
        // The daemon learns of the other's members before it has members itself.
        await daemons[1].enter(room)
        try await meet(daemons, [1, 0])
        await daemons[0].enter(room)
        try await meet(daemons, [1, 1])
        try await eventually("the numbers are known") { hasCounted.withLock { $0 } }
        hub.refuse("full")
        await daemons[0].cheer(times: 3)
        try await eventually("what is refused is given up") { daemons[0].report.dropped == 3 }
        hub.refuse(nil)
        try await eventually("the loss is known") { daemons[1].report.lost == 3 }
        hub.drop { packet, _, _ in if case .everyDaemon = packet.destination { true } else { false } }
        await daemons[0].enter(room)
        await daemons[0].cheer(times: 2)
        try await eventually("ales cross again") { await daemons[1].ales == [2] }
        hub.drop(where: nil)
        // The next packet with the sender's numbers reports the missing member.
        try await meet(daemons, [1, 2])
        for daemon in daemons { await daemon.end() }
    }

    @Test(
        "People of a stopped daemon count during the grace period, and those of a killed one don't"
    )
    func presence() async throws {
        let daemons = try await daemons(3)
        let person = UUID()
        await daemons[0].enter(room, watches: true)
        await daemons[1].enter(room, as: person)
        await daemons[2].enter(room)
        try await eventually("the first daemon counts all three") { await daemons[0].counts.first?.last == 3 }
        await daemons[1].end()
        try await meet([daemons[0]], [1])
        #expect(await daemons[0].elsewhere(room)?.people == [person])
        hub.cut(daemons[2].id)
        await daemons[0].relay.remove([daemons[2].id])
        try await eventually("who died with its daemon is gone") { await daemons[0].counts.first?.last == 2 }
        for index in [0, 2] { await daemons[index].end() }
    }

    @Test("News at the end of a relay isn't delivered to rooms that it has left")
    func lateNews() async throws {
        let group = try EventLoopGroup(count: 1)
        let loop = try #require(group.loops.first)
        await loop.start()
        let rooms = Rooms(loops: group.loops, anyRoomIsOpen: true, aleFrame: { _ in [0x82, 0] }, report: { _ in })
        let members = RoomMembers(connections: 1, anonymous: 1)
        let news = RelayMessage.members(
            [RelayMessage.Members(room: room, next: 1, members: members)], place: [.whole, .first, .last], number: 1)
        let relay = BusRelay(
            DaemonID(), bus: LatePacketBus(packet: news.bytes), rooms: rooms, grace: .seconds(15), report: { _ in })
        await relay.begin()
        await relay.end()
        // The relay's queue and the loop are empty, so the late packet has been handled.
        await relay.begin()
        let elsewhere = await loop.run { reactor in rooms.shard(on: reactor).link.members(of: room) }
        #expect(elsewhere == nil)
        await loop.stop()
    }

    /// A bus that reports a packet while it is being stopped.
    private struct LatePacketBus: Bus {
        let packet: [UInt8]
        private let receiver = Locked<(@Sendable (BusEvent) -> Void)?>(nil)

        init(packet: [UInt8]) { self.packet = packet }

        var packetSize: Int { 8_192 }
        func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async { receiver.withLock { $0 = receive } }
        func stop() async { receiver.withLock { $0 }?(.received(from: DaemonID(), packet)) }
        func send(_ packets: [BusPacket]) async throws(BusError) {}
    }

    @Test("An echo measures the delay of the bus")
    func echo() async throws {
        let daemons = try await daemons(1)
        try await eventually("the echo is back") { !daemons[0].report.delays.isEmpty }
        for daemon in daemons { await daemon.end() }
    }

    @Test("The reported delay grows while the bus is unavailable")
    func delayOfOutage() async throws {
        let daemon = try await daemons(1)[0]
        try await eventually("the bus") { daemon.report.connections == 1 }
        hub.cut()
        try await eventually("a delay that grows") { daemon.report.delays.last.map { $0 > .seconds(1) } == true }
        hub.heal()
        try await eventually("an echo") { daemon.report.delays.last.map { $0 < .seconds(1) } == true }
        await daemon.end()
    }
}
