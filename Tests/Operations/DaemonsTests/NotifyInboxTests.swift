import Rooms
import TestSupport
import Testing

@testable import Daemons

/// Payloads that are damaged, lost, late or repeated, and an unlimited number of senders.
@Suite struct NotifyInboxTests {
    private static func packets(_ count: Int, _ random: inout SeededRandom) -> [BusPacket] {
        (0..<count).map { number in
            let filling = [UInt8](repeating: 5, count: Int.random(in: 0...15_000, using: &random))
            return BusPacket(to: .everyDaemon, [UInt8(number >> 8), UInt8(number & 255)] + filling)
        }
    }

    private static func number(of packet: [UInt8]) -> Int { Int(packet[0]) << 8 | Int(packet[1]) }

    @Test(
        "Lost, late and repeated payloads leave only gaps",
        arguments: UInt64(0)..<8
    )
    func disorder(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let sent = Self.packets(80, &random)
        var packer = NotifyPacker(sender: DaemonID(), after: 0)
        var payloads = try packer.pack(sent).map(\.payload)
        for _ in 0..<15 {
            let (one, other) = (
                Int.random(in: payloads.indices, using: &random), Int.random(in: payloads.indices, using: &random)
            )
            switch Int.random(in: 0..<3, using: &random) {
            case 0: payloads.remove(at: one)
            case 1: payloads.insert(payloads[one], at: other)
            default: payloads.swapAt(one, other)
            }
        }
        var inbox = NotifyInbox(own: DaemonID())
        let received = payloads.compactMap { inbox.receive($0, on: .everyDaemon) }.flatMap(\.packets)
        let numbers = received.map(Self.number)
        #expect(numbers == Array(Set(numbers)).sorted())
        for packet in received { #expect(packet == sent[Self.number(of: packet)].bytes) }
        #expect(!received.isEmpty)
    }

    @Test("A damaged payload is harmless", arguments: UInt64(0)..<8)
    func damage(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var packer = NotifyPacker(sender: DaemonID(), after: 0)
        var inbox = NotifyInbox(own: DaemonID())
        for message in try packer.pack(Self.packets(30, &random)) {
            var bytes = Array(message.payload.utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 32...126, using: &random)
            }
            if Int.random(in: 0..<4, using: &random) == 0 {
                bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            }
            _ = inbox.receive(String(decoding: bytes, as: UTF8.self), on: .everyDaemon)
        }
        // Packets of another sender are still received.
        var other = NotifyPacker(sender: DaemonID(), after: 0)
        let good = try other.pack([BusPacket(to: .everyDaemon, [1])])
        #expect(inbox.receive(good[0].payload, on: .everyDaemon)?.packets == [[1]])
    }

    @Test("A daemon receives its own packets only on its own channel")
    func own() throws {
        let id = DaemonID()
        var packer = NotifyPacker(sender: id, after: 0)
        var inbox = NotifyInbox(own: id)
        let messages = try packer.pack([BusPacket(to: .everyDaemon, [1]), BusPacket(to: .daemon(id), [2])])
        #expect(messages.compactMap { inbox.receive($0.payload, on: $0.channel)?.packets } == [[[2]]])
    }

    @Test("A sender that restarts under its id is received if its numbers continue")
    func again() throws {
        let id = DaemonID()
        var inbox = NotifyInbox(own: DaemonID())
        for (start, isReceived) in [(UInt64(10), true), (5, false), (1_000, true)] {
            var packer = NotifyPacker(sender: id, after: start)
            let messages = try packer.pack([BusPacket(to: .everyDaemon, [1])])
            #expect((inbox.receive(messages[0].payload, on: .everyDaemon) != nil) == isReceived)
        }
    }

    @Test("Endless senders and packets use bounded memory")
    func bounds() throws {
        var inbox = NotifyInbox(own: DaemonID(), limits: NotifyInbox.Limits(senders: 3, assembledBytes: 40_000))
        func parts(_ sender: DaemonID, after number: UInt64, bytes: Int) throws -> [String] {
            var packer = NotifyPacker(sender: sender, after: number)
            return try packer.pack([BusPacket(to: .everyDaemon, [UInt8](repeating: 1, count: bytes))]).map(\.payload)
        }
        // Each of these packets lacks a part.
        for _ in 0..<50 {
            for part in try parts(DaemonID(), after: 0, bytes: 15_000).dropLast() {
                #expect(inbox.receive(part, on: .everyDaemon) == nil)
            }
        }
        let sender = DaemonID()
        for part in try parts(sender, after: 0, bytes: 60_000) { #expect(inbox.receive(part, on: .everyDaemon) == nil) }
        // Dropped parts free their space.
        var received: [[UInt8]] = []
        for part in try parts(sender, after: 1_000, bytes: 12_000) {
            received += inbox.receive(part, on: .everyDaemon)?.packets ?? []
        }
        #expect(received.map(\.count) == [12_000])
    }
}
