#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last received offset of each conversation, and the missing messages to request. A value.
///
/// | message                 | known conversation  | new conversation      |
/// |-------------------------|---------------------|-----------------------|
/// | the next one            | received            | received              |
/// | a later one             | requested, with all messages before it      ||
/// | an earlier one          | ignored             |                       |
struct ReceivedOffsets: Sendable {
    enum Step: Hashable {
        case next
        case repeated
        /// Messages after this offset are missing and have to be requested.
        case ask(after: Int)
        /// Messages are missing and have been requested.
        case waits
    }

    private var received: [UUID: Int]
    /// The order in which conversations received their latest messages.
    private var turns: [UUID: Int] = [:]
    private var lastTurn = 0
    /// Conversations whose offsets were named in the request. The server sends the missing messages by itself.
    private var named: Set<UUID> = []
    /// Conversations with an unanswered request, and the highest offset received meanwhile.
    private var asked: [UUID: Int] = [:]
    /// Whether the first handshake named all conversations. A conversation that it didn't name is new then.
    private var knowsAll: Bool?

    /// The maximum number of conversations that a handshake names.
    static let namedInHandshake = 200
    /// The maximum number of conversations named in a request, whose target has a limited length.
    static let namedInRequest = 100

    init(_ received: [UUID: Int]) {
        self.received = received
    }

    /// Returns the offsets to name in the next request: those of the conversations with the latest messages.
    mutating func connecting() -> [(conversation: UUID, after: Int)] {
        let latest = received.sorted { one, other in
            let (mine, its) = (turns[one.key] ?? 0, turns[other.key] ?? 0)
            return mine == its ? one.key.uuidString < other.key.uuidString : mine > its
        }.prefix(Self.namedInRequest)
        named = Set(latest.map(\.key))
        return latest.map { ($0.key, $0.value) }
    }

    /// Takes the offsets of a handshake, and returns the missing messages to request.
    ///
    /// A conversation in the first handshake begins at its present offset. A conversation that a later handshake names
    /// for the first time is new, and begins with its first message. If the first handshake couldn't name all
    /// conversations, it begins at its present offset.
    mutating func connected(_ offsets: [UUID: Int]) -> [(conversation: UUID, after: Int)] {
        asked = [:]
        var missing: [(conversation: UUID, after: Int)] = []
        let isNew = knowsAll ?? false
        knowsAll = knowsAll ?? (offsets.count < Self.namedInHandshake)
        for (conversation, offset) in offsets {
            let known = received[conversation] ?? (isNew ? 0 : offset)
            received[conversation] = known
            if known < offset, !named.contains(conversation) {
                asked[conversation] = offset
                missing.append((conversation, known))
            }
        }
        return missing
    }

    /// Takes a message that the server sent by itself.
    mutating func take(_ conversation: UUID, _ offset: Int) -> Step {
        let known = received[conversation] ?? offset - 1
        if offset <= known { return .repeated }
        if let announced = asked[conversation] {
            asked[conversation] = max(announced, offset)
            return .waits
        }
        guard offset == known + 1 else {
            asked[conversation] = offset
            return .ask(after: known)
        }
        record(conversation, offset)
        return .next
    }

    private mutating func record(_ conversation: UUID, _ offset: Int) {
        received[conversation] = offset
        lastTurn += 1
        turns[conversation] = lastTurn
    }

    /// Takes a requested page. Purged messages are missing in it.
    ///
    /// - Returns: The new offsets, and the offset after which to request more.
    mutating func take(
        page offsets: [Int], of conversation: UUID, lastOffset: Int
    ) -> (new: Set<Int>, after: Int?) {
        let known = received[conversation] ?? 0
        let new = Set(offsets.filter { $0 > known })
        // An empty page: all missing messages were purged. A page of known messages says nothing about later ones.
        let last = new.max() ?? (offsets.isEmpty ? max(known, lastOffset) : known)
        record(conversation, last)
        if last < max(lastOffset, asked[conversation] ?? 0), !new.isEmpty { return (new, last) }
        asked[conversation] = nil
        return (new, nil)
    }

    /// The request was refused. The next message triggers another request.
    mutating func refused(_ conversation: UUID) {
        asked[conversation] = nil
    }
}
