import FoundationEssentials

/// Connects relays to one server: sends the ales of their rooms to all others, in batches like those of the daemons.
///
/// Ales that arrive while a payload is being sent add up by room. All other relays receive all ales, even if they don't
/// have the room.
final class RelayBus {
    /// A relay's index, the number of relays, and the database: `0/2 host=…`.
    struct Place {
        let number: Int
        let count: Int
        let conninfo: String

        init(number: Int, count: Int, conninfo: String) {
            (self.number, self.count, self.conninfo) = (number, count, conninfo)
        }

        init(_ text: String) throws(BenchFailure) {
            let fields = text.split(separator: " ", maxSplits: 1)
            let numbers = fields.first?.split(separator: "/").compactMap { Int($0) } ?? []
            guard fields.count == 2, numbers.count == 2 else { throw BenchFailure("\(text) is no place on a bus") }
            self.init(number: numbers[0], count: numbers[1], conninfo: String(fields[1]))
        }

        var text: String { "\(number)/\(count) \(conninfo)" }
    }

    /// The size of a room's entry, equal to that of the daemons: a length, two bytes of kind, the UUID, a number, and
    /// the ales.
    static let entryBytes = 32

    private let carrier: any Carrier
    var sockets: [Int32] { carrier.sockets }
    /// The rooms' UUIDs by the numbers that the relay gave them.
    private var ids: [UUID] = []
    /// The numbers of the rooms by UUID.
    private var numbers: [UUID: Int32] = [:]
    /// The ales to send, by the room's number.
    private var ales: [Int] = []
    /// The rooms with ales to send.
    private var waiting: [Int32] = []
    private var number: UInt64 = 0

    init(_ carrier: any Carrier) {
        self.carrier = carrier
    }

    // MARK: Sending

    /// Registers a room of the relay. A room that has ended may have had the same number.
    func register(_ room: Int32, _ id: UUID) {
        if Int(room) < ids.count {
            numbers[ids[Int(room)]] = nil
            ids[Int(room)] = id
        } else {
            ids.append(id)
            ales.append(0)
        }
        numbers[id] = room
    }

    @inline(__always)
    func add(_ count: Int, in room: Int32) {
        if ales[Int(room)] == 0 { waiting.append(room) }
        ales[Int(room)] += count
    }

    /// Sends the gathered ales, unless a payload is being sent.
    func send() throws(BenchFailure) {
        guard !carrier.isSending, !waiting.isEmpty else { return }
        var payloads: [[UInt8]] = []
        for start in stride(from: 0, to: waiting.count, by: carrier.mostEntries) {
            var bytes = header()
            for room in waiting[start..<min(start + carrier.mostEntries, waiting.count)] { append(room, to: &bytes) }
            payloads.append(bytes)
        }
        waiting.removeAll(keepingCapacity: true)
        try carrier.send(payloads)
    }

    private func append(_ room: Int32, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: [0, 30, 1, 4])
        withUnsafeBytes(of: ids[Int(room)].uuid) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt64(0)) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(clamping: ales[Int(room)])) { bytes.append(contentsOf: $0) }
        ales[Int(room)] = 0
    }

    private func header() -> [UInt8] {
        number += 1
        var bytes: [UInt8] = []
        bytes.reserveCapacity(carrier.headerBytes + min(waiting.count, carrier.mostEntries) * Self.entryBytes)
        // No two payloads of a transaction may be equal, because PostgreSQL would deliver only one of them.
        withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: repeatElement(0, count: carrier.headerBytes - bytes.count))
        return bytes
    }

    // MARK: Receiving

    /// Reads from a readable socket. It must be one of ``sockets``.
    func ready(_ socket: Int32, receive: (_ room: Int32, _ ales: Int) -> Void) throws(BenchFailure) {
        let headerBytes = carrier.headerBytes
        try carrier.ready(socket) { bytes throws(BenchFailure) in
            guard bytes.count >= headerBytes, (bytes.count - headerBytes) % Self.entryBytes == 0 else {
                throw BenchFailure("\(bytes.count) bytes are no payload of a relay's")
            }
            for start in stride(from: headerBytes, to: bytes.count, by: Self.entryBytes) {
                let (id, ales) = Self.entry(bytes[start..<(start + Self.entryBytes)])
                if let room = numbers[id] { receive(room, ales) }
            }
        }
    }

    private static func entry(_ bytes: ArraySlice<UInt8>) -> (UUID, Int) {
        bytes.withUnsafeBytes { bytes in
            (
                UUID(uuid: bytes.loadUnaligned(fromByteOffset: 4, as: uuid_t.self)),
                Int(bytes.loadUnaligned(fromByteOffset: 28, as: UInt32.self))
            )
        }
    }
}
