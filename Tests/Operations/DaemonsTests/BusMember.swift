import FoundationEssentials
import Rooms
import TestSupport

/// A daemon's bus, and the events that it reported.
struct BusMember: Sendable {
    let id: DaemonID
    let bus: any Bus
    let events = EventRecorder<BusEvent>(limit: 200_000)

    init(_ medium: any BusMedium) async throws {
        id = DaemonID()
        bus = try await medium.makeBus(id)
    }

    func start() async {
        await bus.start { [events] in events.append($0) }
    }

    func awaitConnected(within allowed: Duration = Deadline.standard) async throws {
        try await events.next("the bus connected", within: allowed) { $0 == .connected }
    }

    func awaitLost() async throws {
        // The event may be reported more than once.
        try await eventually("the bus lost") {
            let last = events.all.last { if case .received = $0 { false } else { true } }
            return if case .lost = last { true } else { false }
        }
    }

    /// Returns all packets received from `sender`, in order.
    func packets(from sender: BusMember) -> [TestPacket] {
        events.all.compactMap { event in
            guard case .received(sender.id, let bytes) = event else { return nil }
            return TestPacket(bytes)
        }
    }

    /// Makes `sender` send one more packet, and waits for it. Its earlier packets have arrived by then, or are lost.
    ///
    /// - Returns: All earlier packets from it, in order.
    func packetsUntilNow(from sender: BusMember) async throws -> [TestPacket] {
        let mark = TestPacket(stream: .max, number: .random(in: 1_000_000..<2_000_000_000))
        try await sender.bus.send([BusPacket(to: .daemon(id), mark.bytes)])
        let expected = BusEvent.received(from: sender.id, mark.bytes)
        try await events.next("packet \(mark) from \(sender.id)") { $0 == expected }
        return packets(from: sender).filter { $0.stream != .max }
    }
}

/// The content of a packet in tests: a stream, a number in it, and filling bytes that follow from them.
struct TestPacket: Sendable, Equatable, CustomStringConvertible {
    private static let headSize = 9

    let stream: UInt8
    let number: Int
    /// The packet's size in bytes.
    let size: Int

    init(stream: UInt8 = 0, number: Int, size: Int = 9) {
        self.stream = stream
        self.number = number
        self.size = max(size, Self.headSize)
    }

    /// Returns `nil` if a byte was changed.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.headSize else { return nil }
        let words = (0..<2).map { word in bytes[(1 + 4 * word)..<(5 + 4 * word)].reduce(0) { $0 << 8 | Int($1) } }
        self.init(stream: bytes[0], number: words[0], size: words[1])
        guard bytes == self.bytes else { return nil }
    }

    var bytes: [UInt8] {
        var bytes = [stream]
        bytes.reserveCapacity(size)
        for word in [number, size] {
            for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        for index in bytes.count..<max(size, bytes.count) {
            bytes.append(UInt8(truncatingIfNeeded: index &* 31 &+ number))
        }
        return bytes
    }

    var description: String { "\(stream)/\(number) of \(size) bytes" }
}
