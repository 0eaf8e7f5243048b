import FoundationEssentials
import Rooms
import TestSupport
import Testing

@testable import Daemons

/// The payloads that daemons exchange through PostgreSQL, without PostgreSQL.
@Suite struct NotifyPayloadTests {
    @Test("A payload is read as written, and fits into a NOTIFY")
    func codec() {
        let contents: [NotifyPayload.Content] = [
            .packets([[]]), .packets([[1, 2, 3], [], [255]]),
            .packets([[UInt8](repeating: 7, count: NotifyPayload.maxPacketBytes)]),
            .part(index: 0, count: 1, []),
            .part(index: 1_022, count: 1_024, [UInt8](repeating: 9, count: NotifyPayload.maxPartBytes)),
        ]
        for content in contents {
            let payload = NotifyPayload(sender: DaemonID(), number: .max - 3, content: content)
            #expect(NotifyPayload(text: payload.text) == payload)
            #expect(payload.text.utf8.count <= 7_999)
        }
    }

    @Test("A text that no daemon sends is refused")
    func foreign() {
        let good = NotifyPayload(sender: DaemonID(), number: 1, content: .packets([[1, 2, 3]])).text
        for text in ["", "=", "A", "über", String(good.dropLast(4)), good + "A", String(repeating: "A", count: 8_000)] {
            #expect(NotifyPayload(text: text) == nil)
        }
        #expect(NotifyPayload(text: "Ag" + good.dropFirst(2)) == nil, "another version")
    }

    @Test("Each daemon receives its packets in order, however they are divided into calls", arguments: UInt64(0)..<8)
    func everyDivision(_ seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let (sender, receivers) = (DaemonID(), [DaemonID(), DaemonID()])
        let packets = (0..<120).map { Self.packet($0, from: sender, to: receivers, &random) }
        var packer = NotifyPacker(sender: sender, after: 41)
        var inboxes = (receivers + [sender]).map { NotifyInbox(own: $0) }
        var received: [[[UInt8]]] = [[], [], []]
        var rest = packets[...]
        var payloads = 0
        while !rest.isEmpty {
            let call = rest.prefix(Int.random(in: 0...40, using: &random))
            rest = rest.dropFirst(call.count)
            let messages = try packer.pack(Array(call))
            payloads += messages.count
            #expect(Set(messages.map(\.payload)).count == messages.count, "PostgreSQL folds those that are equal")
            for message in messages {
                #expect(message.payload.utf8.count <= 7_999)
                for (index, id) in (receivers + [sender]).enumerated()
                where message.channel == .everyDaemon || message.channel == .daemon(id) {
                    guard let came = inboxes[index].receive(message.payload, on: message.channel) else { continue }
                    #expect(came.sender == sender)
                    received[index] += came.packets
                }
            }
        }
        for (index, id) in (receivers + [sender]).enumerated() {
            #expect(received[index] == packets.filter { Self.reaches(id, $0, from: sender) }.map(\.bytes))
        }
    }

    @Test("Consecutive packets for the same daemons share a payload")
    func gathering() throws {
        let (sender, a, b) = (DaemonID(), DaemonID(), DaemonID())
        var packer = NotifyPacker(sender: sender, after: 0)
        let room = (0..<100).map { BusPacket(to: .room(UUID(), of: [a, b, sender]), [UInt8($0)]) }
        let all = (0..<100).map { BusPacket(to: .everyDaemon, [UInt8($0)]) }
        #expect(try packer.pack(room + all).map(\.channel) == [.daemon(a), .daemon(b), .everyDaemon])
        #expect(try packer.pack([]).isEmpty)
    }

    @Test("A packet that is too long is refused, and no other is lost")
    func tooLong() throws {
        var packer = NotifyPacker(sender: DaemonID(), after: 0)
        let most = NotifyPayload.maxPartBytes * NotifyPayload.maxParts
        #expect(throws: BusError.self) {
            try packer.pack([
                BusPacket(to: .everyDaemon, [1]), BusPacket(to: .everyDaemon, [UInt8](repeating: 0, count: most + 1)),
            ])
        }
        #expect(try packer.pack([BusPacket(to: .everyDaemon, [1])]).count == 1)
        let messages = try packer.pack([BusPacket(to: .everyDaemon, [UInt8](repeating: 3, count: most))])
        var inbox = NotifyInbox(own: DaemonID())
        let packets = messages.compactMap { inbox.receive($0.payload, on: .everyDaemon) }.flatMap(\.packets)
        #expect(packets.map(\.count) == [most])
    }

    // MARK: -

    /// Returns a packet that begins with its number, so that all packets differ.
    private static func packet(
        _ number: Int, from sender: DaemonID, to receivers: [DaemonID], _ random: inout SeededRandom
    ) -> BusPacket {
        let sizes = [2, 3, 40, 5_960, 5_961, 5_967, 5_968, 5_969, 5_970, 5_971, 12_000, 30_000]
        let size = sizes.randomElement(using: &random) ?? 2
        let bytes =
            [UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: UInt8(number & 255), count: size - 2)
        let destinations: [BusPacket.Destination] = [
            .everyDaemon, .daemon(receivers[0]), .daemon(receivers[1]), .daemon(sender), .room(UUID(), of: receivers),
            .room(UUID(), of: [sender, receivers[1]]), .room(UUID(), of: []),
        ]
        return BusPacket(to: destinations.randomElement(using: &random) ?? .everyDaemon, bytes)
    }

    private static func reaches(_ id: DaemonID, _ packet: BusPacket, from sender: DaemonID) -> Bool {
        switch packet.destination {
        case .everyDaemon: id != sender
        case .daemon(let daemon): daemon == id
        case .room(_, let daemons): id != sender && daemons.contains(id)
        }
    }
}
