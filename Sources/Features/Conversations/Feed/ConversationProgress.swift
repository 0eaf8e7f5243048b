import FoundationEssentials

/// Decides which messages to send to a subscriber, and what to read for it next. Each message is sent once and in
/// order. A value type, whose decisions ``ConversationSubscriber`` performs.
///
/// | the conversation is | a message is published                   | a page was read                       |
/// |---------------------|------------------------------------------|---------------------------------------|
/// | caught up           | sent if it is the next; otherwise behind |                                       |
/// | behind              | its offset is noted; it is read later    | sent; caught up if none is left       |
///
/// While one conversation is behind, messages of the others are read later, too. So missed messages come before new
/// ones.
struct ConversationProgress {
    /// The offset up to which each conversation was received. A conversation that is missing here is new, and none of
    /// its messages was received.
    private var received: [UUID: Int] = [:]
    /// The conversations to read, in order.
    private var behind: [Behind] = []

    private struct Behind {
        let conversation: UUID
        /// The highest announced offset. This offset may be later than the last message of the page that is being read.
        var announced: Int
        /// Whether a read returned no messages although some were announced. After a second empty read, the announced
        /// messages don't exist.
        var wasEmpty = false
    }

    /// - Parameters:
    ///   - after: The offsets from which to start in some conversations.
    ///   - othersAreNew: Whether the other conversations start at their beginning, because they were created since.
    ///     Otherwise they start now.
    init(_ positions: [ConversationPositions.Position], after: [UUID: Int], othersAreNew: Bool = false) {
        for position in positions {
            let unknown = othersAreNew ? 0 : position.lastOffset
            let offset = min(after[position.conversation] ?? unknown, position.lastOffset)
            received[position.conversation] = offset
            // Conversations with later messages are read last.
            if offset < position.lastOffset {
                behind.insert(Behind(conversation: position.conversation, announced: position.lastOffset), at: 0)
            }
        }
    }

    /// Returns whether the message was already received, or is before the start.
    func isPast(_ message: ConversationMessage) -> Bool { message.offset <= received[message.conversation] ?? 0 }

    var isCaughtUp: Bool { behind.isEmpty }

    /// The conversation to read next, and the offset to read from.
    var next: (conversation: UUID, after: Int)? {
        behind.first.map { ($0.conversation, received[$0.conversation] ?? 0) }
    }

    /// Handles published messages.
    ///
    /// - Parameter isBusy: Whether the peer is still receiving an earlier page. The published messages are then read
    ///   afterwards.
    /// - Returns: The messages to send now.
    mutating func published(_ page: ConversationPage, isBusy: Bool = false) -> ArraySlice<ConversationMessage> {
        let known = received[page.conversation] ?? 0
        let fresh = page.messages.drop { $0.offset <= known }
        guard let first = fresh.first, let last = fresh.last else { return [] }
        guard isCaughtUp, !isBusy, first.offset == known + 1 else {
            fallBehind(in: page.conversation, to: last.offset)
            return []
        }
        received[page.conversation] = last.offset
        return fresh
    }

    /// Handles the page that ``next`` requested.
    ///
    /// - Returns: The messages to send.
    mutating func read(_ page: ConversationPage) -> ArraySlice<ConversationMessage> {
        let known = received[page.conversation] ?? 0
        let fresh = page.messages.drop { $0.offset <= known }
        // Deleted messages aren't sent, so their offsets are skipped.
        let offset = fresh.last?.offset ?? max(known, page.lastOffset)
        received[page.conversation] = offset
        guard let index = behind.firstIndex(where: { $0.conversation == page.conversation }) else { return fresh }
        if offset >= max(page.lastOffset, behind[index].announced) || fresh.isEmpty && behind[index].wasEmpty {
            behind.remove(at: index)
        } else {
            behind[index].wasEmpty = fresh.isEmpty
        }
        return fresh
    }

    /// Repeats the messages after these offsets. Must not be called while a page is being read.
    mutating func rewind(to offsets: [UUID: Int]) {
        for (conversation, offset) in offsets {
            guard let last = received[conversation], offset < last else { continue }
            received[conversation] = offset
            fallBehind(in: conversation, to: last)
        }
    }

    /// Removes a conversation in which the user no longer takes part.
    mutating func remove(_ conversation: UUID) {
        behind.removeAll { $0.conversation == conversation }
    }

    /// Handles positions that were read again, because publications may have been missed.
    mutating func found(_ positions: [ConversationPositions.Position]) {
        for position in positions where position.lastOffset > received[position.conversation] ?? 0 {
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
