import FoundationEssentials

/// A room of the relay: its members, and the ales to send to them at the end of this turn.
///
/// An ale is added to the room's count and to its sender's count. At the end of the turn, a member receives the
/// difference. Therefore an ale costs two additions, whatever the room's size.
struct RelayRoom {
    struct Member {
        let descriptor: Int32
        /// The member's own ales in this turn, plus the room's ales before it joined.
        var own: Int
    }

    var key: RelayRoomKey
    var members: [Member] = []
    /// The number of ales in this turn.
    var ales = 0
}

/// A room's UUID as text from the request. It isn't validated, only compared.
struct RelayRoomKey: Hashable {
    static let length = 36
    private let words: (UInt64, UInt64, UInt64, UInt64)
    private let tail: UInt32

    init(_ text: UnsafeRawPointer) {
        words = (
            text.loadUnaligned(as: UInt64.self), text.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
            text.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
            text.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        )
        tail = text.loadUnaligned(fromByteOffset: 32, as: UInt32.self)
    }

    /// The UUID; `nil` if the text isn't a UUID.
    var id: UUID? {
        var text: [UInt8] = []
        for word in [words.0, words.1, words.2, words.3] {
            withUnsafeBytes(of: word) { text.append(contentsOf: $0) }
        }
        withUnsafeBytes(of: tail) { text.append(contentsOf: $0) }
        return UUID(uuidString: String(decoding: text, as: UTF8.self))
    }

    static func == (left: RelayRoomKey, right: RelayRoomKey) -> Bool {
        left.words == right.words && left.tail == right.tail
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0 ^ words.1 &* 3)
        hasher.combine(words.2 ^ words.3 &* 3 ^ UInt64(tail))
    }
}
