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
    /// Asked for and not answered yet, and up to which offset something was said meanwhile.
    private var asked: [UUID: Int] = [:]
    /// Whether the first handshake named all that there was: what it didn't name was made since.
    private var knowsAll: Bool?

    /// The most conversations that a handshake names.
    static let namedInHandshake = 200

    init(_ heard: [UUID: Int]) {
        self.heard = heard
    }

    /// Connected anew, where conversations stand so: what is missing of those that were heard.
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
            if known < offset {
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
        heard[conversation] = offset
        return .hear
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
        heard[conversation] = last
        if last < max(lastOffset, asked[conversation] ?? 0), !new.isEmpty { return (new, last) }
        asked[conversation] = nil
        return (new, nil)
    }

    /// What was asked for isn't to be had now: the next message asks again.
    mutating func refused(_ conversation: UUID) {
        asked[conversation] = nil
    }
}
