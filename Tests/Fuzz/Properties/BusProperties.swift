import Basics
import Domain
import FoundationEssentials
import Wire

@testable import Conversations
@testable import Daemons
@testable import Rooms

/// Messages from other daemons and from a broker: each is read as it was written or ignored, and none ends the daemon.
///
/// ```
/// options 0: packets, from two daemons in turn     length │ bytes │ length │ bytes …
///         1: the text of a NOTIFY                   base64, or the bytes to encode if bit 2 is set
///         2: a broker's message                     application │ routing key │ body, by lines
/// ```
enum BusProperties {
    private static let grace = Duration.seconds(15)
    private static let rooms = [UInt8(0), 1].map { number in
        UUID(uuid: (number, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }

    static func check(_ input: FuzzInput) throws(BrokenProperty) {
        switch input.options & 3 {
        case 0: try checkPackets(input.content)
        case 1: try checkPayload(input)
        default: try checkBridge(input.content)
        }
    }

    // MARK: Packets

    private static func checkPackets(_ bytes: [UInt8]) throws(BrokenProperty) {
        var state = RelayState(id: DaemonID(), packetSize: 200, grace: grace)
        state.busConnected()
        var news = RoomNews()
        for room in rooms { news.members.append(MembersOfRoom(room, RoomMembers(connections: 1, anonymous: 1))) }
        state.take(news)
        let senders = [DaemonID(), DaemonID()]
        var seen = Set(rooms)
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        var rest = bytes[...]
        var count = 0
        while let length = rest.popFirst() {
            let packet = Array(rest.prefix(Int(length)))
            rest = rest.dropFirst(packet.count)
            if let message = try read(packet), case .members(let list, _, _) = message {
                seen.formUnion(list.map(\.room))
            }
            if let effects = try? state.receive(packet, from: senders[count % 2], at: now) {
                try require(effects.changed.isSubset(of: seen), "rooms that no message named")
                for ales in effects.ales {
                    try require(rooms.contains(ales.room) && ales.count > 0, "\(ales.count) ales elsewhere")
                }
            }
            count += 1
            if count.isMultiple(of: 4) {
                now = now + .seconds(2)
                _ = state.beat(at: now, isAnswered: true)
                for packet in state.nextBatch().packets { _ = try read(packet.bytes) }
            }
        }
        let last = state.lastBatch().packets.last.map(\.bytes)
        try require(last == RelayMessage.goodbye.bytes, "the last message of a daemon that ends is a goodbye")
        // After the grace period every silent daemon is given up, so no member is left.
        for _ in 0..<20 {
            now = now + grace
            _ = state.beat(at: now, isAnswered: true)
        }
        for room in seen { try require(state.membersElsewhere(of: room).isEmpty, "somebody is left in \(room)") }
    }

    /// A message that was read is the same after it is written and read again.
    private static func read(_ packet: [UInt8]) throws(BrokenProperty) -> RelayMessage? {
        guard let message = try? RelayMessage(packet) else { return nil }
        let again = try? RelayMessage(message.bytes)
        try require(again == message, "\(message) is read as \(String(describing: again))")
        return message
    }

    // MARK: Payloads

    private static func checkPayload(_ input: FuzzInput) throws(BrokenProperty) {
        let text = input.option(2) ? Base64.encode(input.content) : String(decoding: input.content, as: UTF8.self)
        let payload = NotifyPayload(text: text)
        if let payload {
            try require(payload.text.utf8.count <= NotifyPayload.maxText, "too long to be said again")
            try require(NotifyPayload(text: payload.text) == payload, "said again, it is another")
        }
        var inbox = NotifyInbox(own: DaemonID())
        let came = inbox.receive(text, on: .everyDaemon)
        guard let payload, case .packets(let packets) = payload.content, payload.number > 0 else { return }
        try require(came?.sender == payload.sender && came?.packets == packets, "not all of it comes")
        for packet in packets { _ = try read(packet) }
        try require(inbox.receive(text, on: .everyDaemon) == nil, "it comes twice")
    }

    // MARK: Brokers

    private static func checkBridge(_ bytes: [UInt8]) throws(BrokenProperty) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        guard lines.count == 3 else { return }
        let (application, key) = (String(decoding: lines[0], as: UTF8.self), String(decoding: lines[1], as: UTF8.self))
        let verdict = BridgeMessage.verdict(
            appID: application.isEmpty ? nil : application, routingKey: key, body: Array(lines[2]))
        try require((verdict == .own) == (application == BridgeTopology.appID), "it is ours, or it isn't")
        guard case .store(let message) = verdict else { return }
        try require(message.participants.contains(message.author), "its author isn't among them")
        let names = message.participants.map(\.text).joined(separator: ".")
        try require(names.utf8.elementsEqual(key.utf8), "another routing key")
        guard let tree = PlainJSON(Array(lines[2]), depth: JSONSyntax.maximumDepth) else {
            throw BrokenProperty("a plain reading finds no JSON")
        }
        let members = ["id", "content", "author", "conversation"].map(tree.text)
        guard members.allSatisfy(\.isUnique) else { return }
        try require(message.id == PlainJSON.uuid(members[0].text), "another id")
        try require(message.content.utf8.elementsEqual((members[1].text ?? "").utf8), "another content")
        try require(message.author.text.utf8.elementsEqual((members[2].text ?? "").utf8), "another author")
        try require(message.conversation == PlainJSON.uuid(members[3].text), "another conversation")
    }
}
