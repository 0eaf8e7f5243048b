import FoundationEssentials

/// What a subscriber has received of its conversations, and what is read for it next. Each message is sent once and in
/// order. A value; ``ConversationSubscriber`` performs it.
///
/// | the conversation is | a message is published                     | a page was read                               |
/// |---------------------|--------------------------------------------|-----------------------------------------------|
/// | caught up           | the next one is sent; a later one: behind  |                                               |
/// | behind              | noted; it waits in the database            | sent; caught up if nothing later is announced |
///
/// While one conversation is behind, messages of the others are only read, too. So missed messages come before new
/// ones.
struct ConversationProgress {
    /// The offset up to which each conversation was received. A missing one was created since, and nothing of it was
    /// received.
    private var received: [UUID: Int] = [:]
    /// The conversations to read, in order.
    private var behind: [Behind] = []

    private struct Behind {
        let conversation: UUID
        /// The highest announced offset. It may be newer than the page that is being read.
        var announced: Int
        /// Whether a read returned nothing although there should have been something. After a second empty read, the
        /// messages don't exist.
        var wasEmpty = false
    }

    /// - Parameters:
    ///   - after: The offsets to start from in some conversations.
    ///   - othersAreNew: Whether the other conversations start at their beginning, because they were created since, or
    ///     now.
    init(_ positions: [ConversationPositions.Position], after: [UUID: Int], othersAreNew: Bool = false) {
        for position in positions {
            let unknown = othersAreNew ? 0 : position.lastOffset
            let offset = min(after[position.conversation] ?? unknown, position.lastOffset)
            received[position.conversation] = offset
            // The conversation with the latest message is read last.
            if offset < position.lastOffset {
                behind.insert(Behind(conversation: position.conversation, announced: position.lastOffset), at: 0)
            }
        }
    }

    /// Returns whether the message isn't sent: it was received already, or is before the start.
    func isPast(_ message: ConversationMessage) -> Bool { message.offset <= received[message.conversation] ?? 0 }

    var isCaughtUp: Bool { behind.isEmpty }

    /// The conversation to read next, and the offset to read from.
    var next: (conversation: UUID, after: Int)? {
        behind.first.map { ($0.conversation, received[$0.conversation] ?? 0) }
    }

    /// Handles published messages.
    ///
    /// - Parameter isBusy: Whether the peer hasn't received an earlier page yet. Then these messages are read
    ///   afterwards. - Returns: The messages to send now.
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
        // Deleted messages aren't sent.
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

    /// Repeats the messages after these offsets. Not while a page is being read.
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

    /// Handles new positions, because publications may have been missed.
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
