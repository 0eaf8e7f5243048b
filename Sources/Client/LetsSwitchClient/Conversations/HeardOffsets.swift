#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Up to where each conversation was heard, and what is to be asked for: a value.
///
/// | of a conversation comes | heard before        | never heard           |
/// |-------------------------|---------------------|-----------------------|
/// | the next message        | heard               | heard, and begins it  |
/// | a later one             | asked for, with what lies between           ||
/// | an earlier one          | a repeat            |                       |
struct HeardOffsets: Sendable {
    enum Step: Hashable {
        case hear
        case repeated
        /// What lies above this offset is missing.
        case ask(after: Int)
        /// The same, and it was asked for.
        case waits
    }

    private var heard: [UUID: Int]
    /// When each was heard last, counted.
    private var turns: [UUID: Int] = [:]
    private var lastTurn = 0
    /// Of which the server was told, in connecting, up to where they were heard: it tells the rest by itself.
    private var named: Set<UUID> = []
    /// Asked for and not answered yet, and up to which offset something was said meanwhile.
    private var asked: [UUID: Int] = [:]
    /// Whether the first handshake named all that there was: what it didn't name was made since.
    private var knowsAll: Bool?

    /// The most conversations that a handshake names.
    static let namedInHandshake = 200
    /// The most that are named in connecting: a request's target has its limit.
    static let namedInRequest = 100

    init(_ heard: [UUID: Int]) {
        self.heard = heard
    }

    /// It is about to connect: what the server is told to begin behind, those that were heard last.
    mutating func connecting() -> [(conversation: UUID, after: Int)] {
        let latest = heard.sorted { one, other in
            let (mine, its) = (turns[one.key] ?? 0, turns[other.key] ?? 0)
            return mine == its ? one.key.uuidString < other.key.uuidString : mine > its
        }.prefix(Self.namedInRequest)
        named = Set(latest.map(\.key))
        return latest.map { ($0.key, $0.value) }
    }

    /// Connected anew, where conversations stand so: what is missing of those that were heard, and is to be asked for.
    ///
    /// What the first handshake names begins where it stands; what a later one names for the first time was made in between, and
    /// begins with its first message. Where there were too many to know that, it begins where it stands.
    mutating func connected(_ offsets: [UUID: Int]) -> [(conversation: UUID, after: Int)] {
        asked = [:]
        var missing: [(conversation: UUID, after: Int)] = []
        let isNew = knowsAll ?? false
        knowsAll = knowsAll ?? (offsets.count < Self.namedInHandshake)
        for (conversation, offset) in offsets {
            let known = heard[conversation] ?? (isNew ? 0 : offset)
            heard[conversation] = known
            if known < offset, !named.contains(conversation) {
                asked[conversation] = offset
                missing.append((conversation, known))
            }
        }
        return missing
    }

    /// It is said now.
    mutating func take(_ conversation: UUID, _ offset: Int) -> Step {
        let known = heard[conversation] ?? offset - 1
        if offset <= known { return .repeated }
        if let announced = asked[conversation] {
            asked[conversation] = max(announced, offset)
            return .waits
        }
        guard offset == known + 1 else {
            asked[conversation] = offset
            return .ask(after: known)
        }
        hear(conversation, offset)
        return .hear
    }

    private mutating func hear(_ conversation: UUID, _ offset: Int) {
        heard[conversation] = offset
        lastTurn += 1
        turns[conversation] = lastTurn
    }

    /// A page that was asked for has come, in order. What was purged is missing in it.
    ///
    /// - Returns: What of it is new, and from where on to ask for more.
    mutating func take(
        page offsets: [Int], of conversation: UUID, lastOffset: Int
    ) -> (new: Set<Int>, after: Int?) {
        let known = heard[conversation] ?? 0
        let new = Set(offsets.filter { $0 > known })
        // An empty page: there is nothing any more of what is missing. One that was heard before says nothing of what follows.
        let last = new.max() ?? (offsets.isEmpty ? max(known, lastOffset) : known)
        hear(conversation, last)
        if last < max(lastOffset, asked[conversation] ?? 0), !new.isEmpty { return (new, last) }
        asked[conversation] = nil
        return (new, nil)
    }

    /// What was asked for isn't to be had now: the next message asks again.
    mutating func refused(_ conversation: UUID) {
        asked[conversation] = nil
    }
}
