import Rooms

/// Parses payloads and assembles long packets. A value.
///
/// Payloads that arrive twice, late or out of order are dropped, by their numbers. Such payloads occur if a lost
/// connection has left a statement in the server, and the statement ends after those of the next connection.
struct NotifyInbox {
    /// The received parts of a packet. The next part has the next payload's number.
    private struct Assembly {
        let count: Int
        var parts: Int
        var bytes: [UInt8]
    }

    private struct Sender {
        var number: UInt64
        var assembly: Assembly?
        /// The number of the sender's last payload, counted over all senders. The sender with the smallest number has
        /// been silent for the longest time.
        var lastPayload: UInt64
    }

    struct Limits {
        /// The maximum number of senders. Beyond it, the senders that have been silent for the longest time are
        /// dropped.
        var senders = 256
        /// The maximum size of all incomplete packets in bytes. Beyond it, a new packet is dropped.
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

    /// The names of this daemon's channels.
    var channels: [String] { [NotifyChannel.everyDaemon.name, NotifyChannel.daemon(own).name] }

    /// Handles a payload on a channel with this name. See ``receive(_:on:)``.
    mutating func receive(_ text: String, onChannelNamed name: String) -> (sender: DaemonID, packets: [[UInt8]])? {
        receive(text, on: name == NotifyChannel.everyDaemon.name ? .everyDaemon : .daemon(own))
    }

    /// Returns the packets that this payload completes, in order. Returns `nil` for a damaged or old payload, and for
    /// this daemon's own payloads to everyone.
    mutating func receive(_ text: String, on channel: NotifyChannel) -> (sender: DaemonID, packets: [[UInt8]])? {
        guard let payload = NotifyPayload(text: text) else { return nil }
        if channel == .everyDaemon, payload.sender == own { return nil }
        if let known = senders[payload.sender], payload.number <= known.number { return nil }
        payloads += 1
        // The sender is removed from the dictionary while this method changes it. The assembly then has one owner, so
        // Swift doesn't copy it for each part.
        var sender = senders.removeValue(forKey: payload.sender) ?? Sender(number: 0, assembly: nil, lastPayload: 0)
        let follows = payload.number - sender.number == 1
        sender.number = payload.number
        sender.lastPayload = payloads
        var packets: [[UInt8]] = []
        switch payload.content {
        case .packets(let whole):
            discardAssembly(&sender)
            packets = whole
        case .part(let index, let count, let bytes):
            if let packet = assemble(index, count, bytes, follows: follows, &sender) { packets = [packet] }
        }
        senders[payload.sender] = sender
        if senders.count > limits.senders { removeMostSilent() }
        return packets.isEmpty ? nil : (payload.sender, packets)
    }

    private mutating func assemble(
        _ index: Int, _ count: Int, _ bytes: [UInt8], follows: Bool, _ sender: inout Sender
    ) -> [UInt8]? {
        if index == 0 {
            discardAssembly(&sender)
            sender.assembly = Assembly(count: count, parts: 0, bytes: [])
        }
        guard var assembly = sender.assembly else { return nil }
        guard index == assembly.parts, count == assembly.count, index == 0 || follows,
            assembledBytes + bytes.count <= limits.assembledBytes
        else {
            discardAssembly(&sender)
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

    private mutating func discardAssembly(_ sender: inout Sender) {
        assembledBytes -= sender.assembly?.bytes.count ?? 0
        sender.assembly = nil
    }

    private mutating func removeMostSilent() {
        guard let id = senders.min(by: { $0.value.lastPayload < $1.value.lastPayload })?.key, var sender = senders[id]
        else {
            return
        }
        discardAssembly(&sender)
        senders[id] = nil
    }
}
