import FoundationEssentials

/// A room of the relay: who is in it, and what they are owed in this turn.
///
/// An ale counts once for the room and once for its sender; at the turn's end a member is owed the difference. So an ale costs
/// two additions, whatever the room's size.
struct RelayRoom {
    struct Member {
        let descriptor: Int32
        /// Ales of its own in this turn, and those of before it came.
        var own: Int
    }

    var key: RelayRoomKey
    var members: [Member] = []
    /// Ales in this turn.
    var ales = 0
}

/// A room's UUID, as it is written in the request: not checked, only told apart.
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

    /// The UUID; `nil` if it is none.
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
