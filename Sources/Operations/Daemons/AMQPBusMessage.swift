import AMQP
import FoundationEssentials
import Rooms

/// A packet as the broker has it: a byte for the language, 16 for the sender, and the packet.
enum AMQPBusMessage {
    /// The packet's too: daemons compare one.
    private static let language = UInt8(BusRelay.language)
    private static let headSize = 17

    static func message(_ packet: BusPacket, from sender: DaemonID) -> AMQPMessage {
        var body: [UInt8] = []
        body.reserveCapacity(headSize + packet.bytes.count)
        body.append(language)
        withUnsafeBytes(of: sender.uuid.uuid) { body.append(contentsOf: $0) }
        body.append(contentsOf: packet.bytes)
        var message = AMQPMessage(
            to: AMQPBusTopology.exchange.name, key: AMQPBusTopology.key(packet.destination), body)
        if case .room(_, let daemons) = packet.destination {
            message.furtherKeys = daemons.filter { $0 != sender }.map { AMQPBusTopology.key(.daemon($0)) }
        }
        return message
    }

    /// - Parameter body: `nil` if it was too long.
    /// - Returns: `nil` if it is none of ours, in no language that we know, or one that the daemon sent to others.
    static func packet(_ body: [UInt8]?, key: String, for id: DaemonID) -> BusEvent? {
        guard let body, body.count >= headSize, body[0] == language else { return nil }
        var bytes = UUID().uuid
        withUnsafeMutableBytes(of: &bytes) { $0.copyBytes(from: body[1..<headSize]) }
        let sender = DaemonID(UUID(uuid: bytes))
        guard sender != id || key == AMQPBusTopology.key(.daemon(id)) else { return nil }
        return .received(from: sender, Array(body[headSize...]))
    }
}

extension BusError {
    /// What became of packets, as the broker or its absence says.
    init(_ error: AMQPError) {
        switch error {
        case .away, .libraryMissing: self = .away
        case .refused, .rejected: self = .refused(message: error.message)
        }
    }
}
