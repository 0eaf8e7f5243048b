import Rooms

/// Gathers the packets of one `send` into few payloads. A value.
///
/// Every daemon listens to two channels, the common channel and its own. A daemon receives all payloads of a sender in
/// the order of sending. A payload for everyone is therefore closed before a payload for a single daemon begins, and
/// the reverse.
struct NotifyPacker {
    struct Message: Equatable {
        let channel: NotifyChannel
        let payload: String
    }

    private let sender: DaemonID
    /// The number of the last payload.
    private var number: UInt64
    private var messages: [Message] = []
    /// The payloads with free space, in order: either the common payload, or those of some daemons.
    private var open: [(channel: NotifyChannel, packets: [[UInt8]], bytes: Int)] = []

    /// - Parameter number: A number at or above all numbers that this sender has used.
    init(sender: DaemonID, after number: UInt64) {
        self.sender = sender
        self.number = number
    }

    /// Returns the notifications to send, in this order.
    ///
    /// - Throws: ``BusError/refused(message:)`` if a packet is too long. Then nothing is sent.
    mutating func pack(_ packets: [BusPacket]) throws(BusError) -> [Message] {
        if let long = packets.first(where: { $0.bytes.count > NotifyPayload.maxPartBytes * NotifyPayload.maxParts }) {
            throw .refused(message: "a packet of \(long.bytes.count) bytes is too long for NOTIFY")
        }
        for packet in packets {
            switch packet.destination {
            case .everyDaemon:
                if open.first?.channel != .everyDaemon { closeAll() }
                add(packet.bytes, to: .everyDaemon)
            case .daemon(let daemon):
                closeCommon()
                add(packet.bytes, to: .daemon(daemon))
            case .room(_, let daemons):
                closeCommon()
                for daemon in daemons where daemon != sender { add(packet.bytes, to: .daemon(daemon)) }
            }
        }
        closeAll()
        defer { messages = [] }
        return messages
    }

    private mutating func add(_ packet: [UInt8], to channel: NotifyChannel) {
        let index = open.firstIndex { $0.channel == channel }
        guard packet.count <= NotifyPayload.maxPacketBytes else {
            if let index { close(open.remove(at: index)) }
            return split(packet, to: channel)
        }
        let bytes = packet.count + NotifyPayload.lengthBytes
        let room = NotifyPayload.maxBytes - NotifyPayload.headerBytes
        if let index, open[index].bytes + bytes <= room {
            open[index].packets.append(packet)
            open[index].bytes += bytes
        } else {
            if let index { close(open.remove(at: index)) }
            open.append((channel, [packet], bytes))
        }
    }

    private mutating func split(_ packet: [UInt8], to channel: NotifyChannel) {
        let count = (packet.count + NotifyPayload.maxPartBytes - 1) / NotifyPayload.maxPartBytes
        var rest = packet[...]
        for index in 0..<count {
            let part = Array(rest.prefix(NotifyPayload.maxPartBytes))
            rest = rest.dropFirst(part.count)
            write(.part(index: index, count: count, part), to: channel)
        }
    }

    private mutating func closeCommon() {
        if open.first?.channel == .everyDaemon { closeAll() }
    }

    private mutating func closeAll() {
        for payload in open { close(payload) }
        open.removeAll(keepingCapacity: true)
    }

    private mutating func close(_ payload: (channel: NotifyChannel, packets: [[UInt8]], bytes: Int)) {
        write(.packets(payload.packets), to: payload.channel)
    }

    private mutating func write(_ content: NotifyPayload.Content, to channel: NotifyChannel) {
        number += 1
        let payload = NotifyPayload(sender: sender, number: number, content: content)
        messages.append(Message(channel: channel, payload: payload.text))
    }
}
