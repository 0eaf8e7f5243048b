import AMQP
import FoundationEssentials
import Rooms

/// A packet in the broker's message: a byte for the version, 16 for the sender, and the packet.
enum AMQPBusMessage {
    /// The version of packets, which daemons compare.
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

    /// - Parameter body: `nil` if the message was too long.
    /// - Returns: `nil` for another format or version, and for a message of this daemon to others.
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
    /// The error of the bus for an error of the broker.
    init(_ error: AMQPError) {
        switch error {
        case .unavailable, .libraryMissing: self = .unavailable
        case .refused, .rejected: self = .refused(message: error.message)
        }
    }
}
