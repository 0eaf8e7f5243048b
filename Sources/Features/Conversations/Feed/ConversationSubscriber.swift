import Domain
package import FoundationEssentials
package import Rooms

/// A peer that receives all conversations of a device. Must be used on its loop.
///
/// ```
/// opening (publications are noted) ──positions──► receiving: missed messages, then new ones
/// ```
package final class ConversationSubscriber: RoomListener {
    enum State {
        /// The last offsets of the device's conversations are being read. If messages are published during the read,
        /// the offsets are read again.
        case opening
        case receiving(ConversationProgress, isReading: Bool)
    }

    let member: ConversationMember
    /// The user in whose room the subscriber is.
    var user: String
    let number: ConversationShard.Number
    /// The offsets from which to start. Used until the positions are known.
    var after: [UUID: Int]
    /// Whether conversations without such an offset start at their beginning instead of now.
    let othersAreNew: Bool
    let transport: any ConversationTransport
    unowned let shard: ConversationShard
    var state = State.opening
    /// Whether messages were published before the positions were known.
    var mayHaveMissed = false
    var presence: ConversationPresence?
    /// The commands that wait for the database. The first one is being performed.
    var waiting: [ConversationCommand] = []
    /// The pages to read. The transport was asked for a turn for the first one, which may have begun.
    var turns: [Turn] = []
    /// Whether the peer is still receiving a page.
    private var awaitsDrain = false
    /// The number of requested calls of ``ConversationTransport/caughtUp()``. They follow when the subscriber has caught
    /// up.
    private var awaitedCatchUps = 0
    /// The offsets after which to repeat messages when the current page is sent.
    private var rewinds: [UUID: Int] = [:]

    enum Turn {
        /// Missed messages.
        case backlog
        /// The page that the first waiting command requests.
        case history
    }

    init(
        _ member: ConversationMember, user: String, after: [UUID: Int], othersAreNew: Bool,
        _ number: ConversationShard.Number, _ transport: any ConversationTransport, on shard: ConversationShard
    ) {
        self.member = member
        self.user = user
        self.after = after
        self.othersAreNew = othersAreNew
        self.number = number
        self.transport = transport
        self.shard = shard
    }

    func end(_ cause: ConversationTransportEnd) { transport.end(cause) }

    // MARK: Publications

    package func deliver(_ publication: Publication) {
        if let change = publication.message as? ConversationChange { return received(change) }
        if let reaction = publication.message as? ReactionPublication { return received(reaction.notice) }
        guard let page = publication.page, member.allows(page.conversation) else { return }
        guard case .receiving(var progress, let isReading) = state else {
            mayHaveMissed = true
            return
        }
        presence?.enter(page.conversation, at: page.lastOffset)
        let messages = progress.published(page, isBusy: isReading)
        state = .receiving(progress, isReading: isReading)
        if !messages.isEmpty { transport.send(SubscriberMessages(messages: messages, page: page, shared: publication)) }
        proceed()
    }

    /// Handles a change of participants. The change is a hint, so it needs no order relative to messages.
    private func received(_ change: ConversationChange) {
        let conversation = change.notice.conversation
        guard case .receiving = state, member.allows(conversation) else { return }
        switch change.notice.change {
        case .made, .returned: presence?.enter(conversation)
        case .left(let user):
            let summary = change.summary
            // The user may have returned after this change.
            if user == self.user, !summary.participants.contains(user) {
                presence?.leave(conversation, at: summary.lastOffset)
            }
            transport.send(.left(conversation: conversation, user: user, participants: summary.participants))
        }
    }

    private func received(_ reaction: ReactionNotice) {
        if case .receiving = state, member.allows(reaction.conversation) { transport.send(.reaction(reaction)) }
    }

    // MARK: Missed messages

    /// Reads missed messages, one page at a time.
    func proceed() {
        guard case .receiving(let progress, false) = state else { return }
        guard !progress.isCaughtUp else { return reportCaughtUp() }
        state = .receiving(progress, isReading: true)
        awaitTurn(.backlog)
    }

    private func reportCaughtUp() {
        while awaitedCatchUps > 0 {
            awaitedCatchUps -= 1
            transport.caughtUp()
        }
    }

    /// Requests a call of ``ConversationTransport/caughtUp()`` when all messages known now were sent.
    package func awaitCatchUp() {
        awaitedCatchUps += 1
        proceed()
    }

    /// Repeats the messages after these offsets. Then calls ``ConversationTransport/caughtUp()``.
    package func replay(after offsets: [UUID: Int]) {
        let allowed = offsets.filter { member.allows($0.key) }
        switch state {
        case .opening: after.merge(allowed) { min($0, $1) }
        case .receiving: rewinds.merge(allowed) { min($0, $1) }
        }
        awaitedCatchUps += 1
        rewind()
        proceed()
    }

    private func rewind() {
        guard !rewinds.isEmpty, case .receiving(var progress, false) = state else { return }
        progress.rewind(to: rewinds)
        rewinds = [:]
        state = .receiving(progress, isReading: false)
    }

    func awaitTurn(_ turn: Turn) {
        turns.append(turn)
        if turns.count == 1 { transport.awaitTurn() }
    }

    /// Reads the next page. The transport calls this when it gives a turn.
    package func hasTurn() {
        switch turns.first {
        case .backlog?:
            guard case .receiving(let progress, true) = state else { return endTurn() }
            guard let next = progress.next else { return endTurn(progress) }
            shard.readPage(of: next.conversation, after: next.after, for: self)
        case .history?:
            if let command = waiting.first { shard.perform(command, for: self) }
        case nil: transport.endTurn()
        }
    }

    private func endTurn() {
        if !turns.isEmpty { turns.removeFirst() }
        transport.endTurn()
        if !turns.isEmpty { transport.awaitTurn() }
    }

    private func endTurn(_ progress: ConversationProgress) {
        state = .receiving(progress, isReading: false)
        rewind()
        endTurn()
        proceed()
    }

    func reportDrain() {
        awaitsDrain = true
        transport.reportDrain()
    }

    /// Handles a page of missed messages.
    ///
    /// - Parameter page: The page. `nil` if the device no longer takes part in the conversation.
    func take(_ page: ConversationPage?, of conversation: UUID) {
        guard case .receiving(var progress, true) = state else { return }
        guard let page else {
            progress.remove(conversation)
            return endTurn(progress)
        }
        let messages = progress.read(page)
        guard !messages.isEmpty else { return endTurn(progress) }
        state = .receiving(progress, isReading: true)
        transport.send(SubscriberMessages(messages: messages, page: page, shared: nil))
        // The next page is read when the peer has received this one.
        reportDrain()
    }

    /// Continues after the peer has received everything that was sent.
    package func drained() {
        guard awaitsDrain else { return }
        awaitsDrain = false
        switch turns.first {
        case .backlog?:
            if case .receiving(let progress, true) = state { endTurn(progress) }
        case .history?:
            endTurn()
            beginNext()
        case nil: break
        }
    }
}
