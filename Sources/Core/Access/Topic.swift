package import Domain
package import FoundationEssentials

/// A topic that a ticket may permit: `room:<uuid>`, `questions:<uuid>`.
package enum Topic: Sendable, Hashable {
    case room(UUID)
    case device(DeviceID)
    case questions(UUID)
    case conversation(UUID)

    package var name: String {
        switch self {
        case .room(let id): "room:\(id.text)"
        case .device(let device): "device:\(device.text)"
        case .questions(let session): "questions:\(session.text)"
        case .conversation(let id): "conversation:\(id.text)"
        }
    }

    /// Returns the conversation of a topic's name.
    package static func conversation(named name: String) -> UUID? {
        name.hasPrefix("conversation:") ? UUID(text: String(name.dropFirst("conversation:".count))) : nil
    }

    /// Whether upper and lower case are equal: they are in UUIDs. Device ids are compared byte for byte.
    fileprivate var ignoresCase: Bool {
        if case .device = self { false } else { true }
    }
}

/// The name of a topic, or a prefix of names followed by `*`.
package struct TopicPattern: Sendable, Hashable {
    private let bytes: [UInt8]
    private let matchesRest: Bool

    package init(_ text: String) {
        matchesRest = text.utf8.last == UInt8(ascii: "*")
        bytes = Array(text.utf8.dropLast(matchesRest ? 1 : 0))
    }

    func matches(_ topic: Topic) -> Bool {
        let name = Array(topic.name.utf8)
        guard matchesRest ? name.count >= bytes.count : name.count == bytes.count else { return false }
        let ignoresCase = topic.ignoresCase
        return zip(bytes, name).allSatisfy { byte, other in
            byte == other || (ignoresCase && Self.lowercased(byte) == Self.lowercased(other))
        }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    var text: String { String(decoding: bytes, as: UTF8.self) + (matchesRest ? "*" : "") }
}
