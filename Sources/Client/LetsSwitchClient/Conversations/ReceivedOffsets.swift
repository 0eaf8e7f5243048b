#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The last received offset of each conversation. With it, ``ConversationReading`` decides which messages it returns to
/// its caller, and which messages it requests from the server.
///
/// | conversation | message's offset              | result                                                        |
/// |--------------|-------------------------------|---------------------------------------------------------------|
/// | known        | the last received offset + 1  | The caller receives the message.                              |
/// | known        | higher                        | The messages after the last received offset are requested.    |
/// | known        | the same or lower             | The message is ignored.                                       |
/// | unknown      | any                           | The caller receives the message. No earlier one is requested. |
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
    /// The order in which conversations received their latest messages. A later message has a higher number.
    private var turns: [UUID: Int] = [:]
    private var lastTurn = 0
    /// The conversations whose offsets were in the latest request to connect. The server sends their missing messages
    /// without a further request.
    private var named: Set<UUID> = []
    /// The conversations with an unanswered request for missing messages. The value is the highest offset that the
    /// server has sent or announced since the request.
    private var asked: [UUID: Int] = [:]
    /// Whether the first handshake had the offsets of all conversations of the device. If it had, a conversation that
    /// is only in a later handshake is new. `nil` before the first handshake.
    private var knowsAll: Bool?

    /// The maximum number of conversations that a handshake contains.
    static let namedInHandshake = 200
    /// The maximum number of offsets in a request to connect, because the length of its path and query is limited.
    static let namedInRequest = 100

    init(_ received: [UUID: Int]) {
        self.received = received
    }

    /// Returns the offsets for the next request to connect: those of the conversations with the latest messages.
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
    /// An unknown conversation in the first handshake begins at the offset in the handshake, so its earlier messages
    /// aren't requested. An unknown conversation in a later handshake is new and begins with its first message. But if
    /// the first handshake had no space for all conversations, the conversation may be old. Then it begins at the
    /// offset in the handshake, too.
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

    /// Takes a message that the server sent without a request.
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

    /// Takes a page that was requested. Purged messages are missing in the page.
    ///
    /// - Returns: The offsets that are new, and the offset after which to request more, or `nil` if nothing more is
    ///   missing.
    mutating func take(
        page offsets: [Int], of conversation: UUID, lastOffset: Int
    ) -> (new: Set<Int>, after: Int?) {
        let known = received[conversation] ?? 0
        let new = Set(offsets.filter { $0 > known })
        // An empty page means that all missing messages were purged. A page with only known messages doesn't show
        // whether later ones are missing.
        let last = new.max() ?? (offsets.isEmpty ? max(known, lastOffset) : known)
        record(conversation, last)
        if last < max(lastOffset, asked[conversation] ?? 0), !new.isEmpty { return (new, last) }
        asked[conversation] = nil
        return (new, nil)
    }

    /// Records that a request was refused. The conversation's next message causes a new request.
    mutating func refused(_ conversation: UUID) {
        asked[conversation] = nil
    }
}
