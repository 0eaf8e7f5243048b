import FoundationEssentials
import Messaging

/// What somebody has heard of its conversations, and what is read for it next, so that each message comes once and in order. A value;
/// ``ConversationSubscriber`` does what it says.
///
/// | a conversation is | a message is published             | a page was read         |
/// |-------------------|------------------------------------|-------------------------|
/// | caught up         | the next: heard; later: → behind   |                         |
/// | behind            | noted; waits in the database       | heard, → caught up once nothing later was announced |
///
/// While one is behind, nothing is heard of the others but what is read: what was missed comes before what is said now.
struct ConversationProgress {
    /// Up to which offset each was heard. One that isn't here was made since: nothing of it was.
    private var heard: [UUID: Int] = [:]
    /// Those of which something is to be read, in order.
    private var behind: [Behind] = []

    private struct Behind {
        let conversation: UUID
        /// Up to here there is something, as somebody said; maybe since the page that is read now was looked up.
        var announced: Int
        /// There was nothing to read, though there should have been. If there is nothing again, it isn't to be had.
        var wasEmpty = false
    }

    /// - Parameters:
    ///   - after: Where to begin in some of them.
    ///   - othersAreNew: Whether the others begin at their beginning, being made since it was looked up; or now.
    init(_ positions: [ConversationPositions.Position], after: [UUID: Int], othersAreNew: Bool = false) {
        for position in positions {
            let unknown = othersAreNew ? 0 : position.lastOffset
            let offset = min(after[position.conversation] ?? unknown, position.lastOffset)
            heard[position.conversation] = offset
            // What was said last is read last.
            if offset < position.lastOffset {
                behind.insert(Behind(conversation: position.conversation, announced: position.lastOffset), at: 0)
            }
        }
    }

    /// Whether it is told nothing more of a message: that it was heard, or lies before where it began.
    func isPast(_ message: ConversationMessage) -> Bool { message.offset <= heard[message.conversation] ?? 0 }

    var isCaughtUp: Bool { behind.isEmpty }

    /// What is to be read: a conversation, and the offset behind which.
    var next: (conversation: UUID, after: Int)? {
        behind.first.map { ($0.conversation, heard[$0.conversation] ?? 0) }
    }

    /// Messages were published.
    ///
    /// - Parameter isBusy: What was read before has not been taken yet: then these are read after it.
    /// - Returns: What is to be heard of them now.
    mutating func published(_ page: ConversationPage, isBusy: Bool = false) -> ArraySlice<ConversationMessage> {
        let known = heard[page.conversation] ?? 0
        let fresh = page.messages.drop { $0.offset <= known }
        guard let first = fresh.first, let last = fresh.last else { return [] }
        guard isCaughtUp, !isBusy, first.offset == known + 1 else {
            fallBehind(in: page.conversation, to: last.offset)
            return []
        }
        heard[page.conversation] = last.offset
        return fresh
    }

    /// What was asked for by ``next`` was read.
    ///
    /// - Returns: What is to be heard of it.
    mutating func read(_ page: ConversationPage) -> ArraySlice<ConversationMessage> {
        let known = heard[page.conversation] ?? 0
        let fresh = page.messages.drop { $0.offset <= known }
        // What was purged doesn't come.
        let offset = fresh.last?.offset ?? max(known, page.lastOffset)
        heard[page.conversation] = offset
        guard let index = behind.firstIndex(where: { $0.conversation == page.conversation }) else { return fresh }
        if offset >= max(page.lastOffset, behind[index].announced) || fresh.isEmpty && behind[index].wasEmpty {
            behind.remove(at: index)
        } else {
            behind[index].wasEmpty = fresh.isEmpty
        }
        return fresh
    }

    /// What was heard behind these offsets is heard again. Not while something is read.
    mutating func rewind(to offsets: [UUID: Int]) {
        for (conversation, offset) in offsets {
            guard let last = heard[conversation], offset < last else { continue }
            heard[conversation] = offset
            fallBehind(in: conversation, to: last)
        }
    }

    /// It is none of its conversations any more.
    mutating func forget(_ conversation: UUID) {
        behind.removeAll { $0.conversation == conversation }
    }

    /// Publications may have been missed.
    mutating func found(_ positions: [ConversationPositions.Position]) {
        for position in positions where position.lastOffset > heard[position.conversation] ?? 0 {
            fallBehind(in: position.conversation, to: position.lastOffset)
        }
    }

    private mutating func fallBehind(in conversation: UUID, to offset: Int) {
        guard let index = behind.firstIndex(where: { $0.conversation == conversation }) else {
            return behind.append(Behind(conversation: conversation, announced: offset))
        }
        guard offset > behind[index].announced else { return }
        behind[index].announced = offset
        behind[index].wasEmpty = false
    }
}
