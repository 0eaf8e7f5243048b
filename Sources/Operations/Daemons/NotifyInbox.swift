import Rooms

/// Takes payloads apart, and puts long packets together. A value.
///
/// What comes twice, late or in another order than it was sent in is left out: a connection that was lost may have left a statement
/// behind in the server, which ends after those of the connection after it. The numbers tell.
struct NotifyInbox {
    /// What has come of a packet so far; the next part has the next payload's number.
    private struct Assembly {
        let count: Int
        var parts: Int
        var bytes: [UInt8]
    }

    private struct Sender {
        var number: UInt64
        var assembly: Assembly?
        /// Grows with each payload of anybody's: the least has been silent for longest.
        var heard: UInt64
    }

    struct Limits {
        /// Those who have been silent for longest are forgotten.
        var senders = 256
        /// Bytes of packets that aren't complete; beyond, the one that comes is dropped.
        var assembledBytes = 16 << 20
    }

    private let own: DaemonID
    private let limits: Limits
    private var senders: [DaemonID: Sender] = [:]
    private var assembledBytes = 0
    private var payloads: UInt64 = 0

    init(own: DaemonID, limits: Limits = Limits()) {
        self.own = own
        self.limits = limits
    }

    /// The names of those that it is for.
    var channels: [String] { [NotifyChannel.everyDaemon.name, NotifyChannel.daemon(own).name] }

    /// As ``receive(_:on:)``, by the name of one of its channels.
    mutating func receive(_ text: String, onChannelNamed name: String) -> (sender: DaemonID, packets: [[UInt8]])? {
        receive(text, on: name == NotifyChannel.everyDaemon.name ? .everyDaemon : .daemon(own))
    }

    /// The packets that are complete with this payload, in order; none for what is damaged, our own to everybody, or old.
    mutating func receive(_ text: String, on channel: NotifyChannel) -> (sender: DaemonID, packets: [[UInt8]])? {
        guard let payload = NotifyPayload(text: text) else { return nil }
        if channel == .everyDaemon, payload.sender == own { return nil }
        if let known = senders[payload.sender], payload.number <= known.number { return nil }
        payloads += 1
        // Taken out, so that what is assembled has one owner and isn't copied with each part.
        var sender = senders.removeValue(forKey: payload.sender) ?? Sender(number: 0, assembly: nil, heard: 0)
        let follows = payload.number - sender.number == 1
        sender.number = payload.number
        sender.heard = payloads
        var packets: [[UInt8]] = []
        switch payload.content {
        case .packets(let whole):
            forgetAssembly(&sender)
            packets = whole
        case .part(let index, let count, let bytes):
            if let packet = assemble(index, count, bytes, follows: follows, &sender) { packets = [packet] }
        }
        senders[payload.sender] = sender
        if senders.count > limits.senders { forgetMostSilent() }
        return packets.isEmpty ? nil : (payload.sender, packets)
    }

    private mutating func assemble(
        _ index: Int, _ count: Int, _ bytes: [UInt8], follows: Bool, _ sender: inout Sender
    ) -> [UInt8]? {
        if index == 0 {
            forgetAssembly(&sender)
            sender.assembly = Assembly(count: count, parts: 0, bytes: [])
        }
        guard var assembly = sender.assembly else { return nil }
        guard index == assembly.parts, count == assembly.count, index == 0 || follows,
            assembledBytes + bytes.count <= limits.assembledBytes
        else {
            forgetAssembly(&sender)
            return nil
        }
        sender.assembly = nil
        assembly.bytes += bytes
        assembly.parts += 1
        assembledBytes += bytes.count
        guard assembly.parts == count else {
            sender.assembly = assembly
            return nil
        }
        assembledBytes -= assembly.bytes.count
        return assembly.bytes
    }

    private mutating func forgetAssembly(_ sender: inout Sender) {
        assembledBytes -= sender.assembly?.bytes.count ?? 0
        sender.assembly = nil
    }

    private mutating func forgetMostSilent() {
        guard let id = senders.min(by: { $0.value.heard < $1.value.heard })?.key, var sender = senders[id] else {
            return
        }
        forgetAssembly(&sender)
        senders[id] = nil
    }
}
