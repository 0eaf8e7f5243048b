import BusTestSupport
import Rooms
import TestSupport
import Testing

/// The tests' bus passes the conformance tests of a bus, and its faults can be switched on and off.
@Suite struct MemoryBusTests {
    @Test("A bus in memory passes the conformance tests", arguments: BusConformance.Guarantee.allCases)
    func keeps(_ guarantee: BusConformance.Guarantee) async throws {
        try await BusConformance(on: MemoryMedium()).check(guarantee)
    }

    @Test("Packets for a held daemon wait, up to a limit")
    func hold() async throws {
        let medium = MemoryMedium(inboxLimit: 10)
        let (sender, receiver) = (try await BusMember(medium), try await BusMember(medium))
        for member in [sender, receiver] {
            await member.start()
            try await member.awaitConnected()
        }
        medium.hub.hold(receiver.id)
        try await sender.bus.send((0..<30).map { BusPacket(to: .everyDaemon, TestPacket(number: $0).bytes) })
        medium.hub.release(receiver.id)
        let last = BusEvent.received(from: sender.id, TestPacket(number: 29).bytes)
        try await receiver.events.next { $0 == last }
        #expect(receiver.packets(from: sender).map(\.number) == Array(20..<30))
        for member in [sender, receiver] { await member.bus.stop() }
    }

    @Test("Dropped and refused packets don't arrive, and the others do")
    func drop() async throws {
        let medium = MemoryMedium()
        let (sender, receiver) = (try await BusMember(medium), try await BusMember(medium))
        for member in [sender, receiver] {
            await member.start()
            try await member.awaitConnected()
        }
        medium.hub.drop { packet, _, _ in TestPacket(packet.bytes)?.number == 1 }
        try await sender.bus.send((0..<3).map { BusPacket(to: .everyDaemon, TestPacket(number: $0).bytes) })
        medium.hub.drop(where: nil)
        medium.hub.refuse("no room")
        await #expect(throws: BusError.refused(message: "no room")) {
            try await sender.bus.send([BusPacket(to: .everyDaemon, TestPacket(number: 3).bytes)])
        }
        medium.hub.refuse(nil)
        _ = try await receiver.packetsUntilNow(from: sender)
        medium.hub.cut(receiver.id)
        try await receiver.awaitLost()
        try await sender.bus.send([BusPacket(to: .everyDaemon, TestPacket(number: 4).bytes)])
        medium.hub.heal()
        try await receiver.awaitConnected()
        #expect(try await receiver.packetsUntilNow(from: sender).map(\.number) == [0, 2])
        for member in [sender, receiver] { await member.bus.stop() }
    }
}

struct MemoryMedium: BusMedium {
    let hub: MemoryHub

    init(inboxLimit: Int = 100_000) {
        hub = MemoryHub(inboxLimit: inboxLimit)
    }

    func makeBus(_ id: DaemonID) async throws -> any Bus { hub.makeBus(id) }
    func cut() async throws { hub.cut() }
    func heal() async throws { hub.heal() }
    func end() async {}
}
