import FoundationEssentials
import Rooms
import Wire

/// The content of one NOTIFY between daemons: packets, or a part of a long packet.
///
/// ```
/// base64 of:  version  kind  sender  number   packets:  length (2), bytes; repeated
///                1       1     16       8     part:     index (2), count (2), bytes to the end
/// ```
///
/// Numbers are in network order. The encoding is Base64, because a payload is text in the database's encoding.
struct NotifyPayload: Equatable {
    enum Content: Equatable {
        case packets([[UInt8]])
        /// The parts of a packet have consecutive payload numbers.
        case part(index: Int, count: Int, [UInt8])
    }

    let sender: DaemonID
    /// The number of the payload, which increases with each payload of a sender. Therefore no two payloads are equal.
    /// Of equal payloads in a transaction, PostgreSQL would deliver only the first.
    let number: UInt64
    let content: Content

    /// PostgreSQL accepts fewer than 8,000 bytes in a NOTIFY.
    static let maxText = 7_999
    static let maxBytes = maxText / 4 * 3
    static let headerBytes = 26
    /// The size of the length in front of each packet, in bytes.
    static let lengthBytes = 2
    /// The maximum size of a packet in one payload.
    static let maxPacketBytes = maxBytes - headerBytes - lengthBytes
    static let maxPartBytes = maxBytes - headerBytes - 4
    /// The maximum number of parts of a packet. Together they hold six megabytes.
    static let maxParts = 1_024

    /// The version of the packets' format. A daemon ignores payloads with another version.
    private static let version = UInt8(BusRelay.language)
    private static let packetsKind: UInt8 = 0
    private static let partKind: UInt8 = 1

    /// The payload as text: at most ``maxText`` bytes if the content keeps to the limits above.
    var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.maxBytes)
        bytes.append(Self.version)
        switch content {
        case .packets: bytes.append(Self.packetsKind)
        case .part: bytes.append(Self.partKind)
        }
        withUnsafeBytes(of: sender.uuid.uuid) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        switch content {
        case .packets(let packets):
            for packet in packets {
                Self.append(packet.count, to: &bytes)
                bytes += packet
            }
        case .part(let index, let count, let part):
            Self.append(index, to: &bytes)
            Self.append(count, to: &bytes)
            bytes += part
        }
        return Base64.encode(bytes)
    }

    init(sender: DaemonID, number: UInt64, content: Content) {
        self.sender = sender
        self.number = number
        self.content = content
    }

    /// `nil` for a text that isn't a payload of this version.
    init?(text: String) {
        guard text.utf8.count <= Self.maxText, let bytes = Base64.decode(text) else { return nil }
        guard bytes.count >= Self.headerBytes, bytes[0] == Self.version else { return nil }
        let rest = bytes[Self.headerBytes...]
        let content: Content? =
            switch bytes[1] {
            case Self.packetsKind: Self.packets(in: rest)
            case Self.partKind: Self.part(in: rest)
            default: nil
            }
        guard let content else { return nil }
        let (id, number) = bytes.withUnsafeBytes {
            (
                $0.loadUnaligned(fromByteOffset: 2, as: uuid_t.self),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 18, as: UInt64.self))
            )
        }
        self.init(sender: DaemonID(UUID(uuid: id)), number: number, content: content)
    }

    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        bytes.append(UInt8(truncatingIfNeeded: number >> 8))
        bytes.append(UInt8(truncatingIfNeeded: number))
    }

    /// Reads a number of two bytes and removes it from the front.
    private static func takeNumber(_ bytes: inout ArraySlice<UInt8>) -> Int? {
        guard let high = bytes.popFirst(), let low = bytes.popFirst() else { return nil }
        return Int(high) << 8 | Int(low)
    }

    private static func packets(in bytes: ArraySlice<UInt8>) -> Content? {
        var rest = bytes
        var packets: [[UInt8]] = []
        while !rest.isEmpty {
            guard let length = takeNumber(&rest), length <= rest.count else { return nil }
            packets.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return packets.isEmpty ? nil : .packets(packets)
    }

    private static func part(in bytes: ArraySlice<UInt8>) -> Content? {
        var rest = bytes
        guard let index = takeNumber(&rest), let count = takeNumber(&rest), index < count, count <= maxParts else {
            return nil
        }
        return .part(index: index, count: count, Array(rest))
    }
}
