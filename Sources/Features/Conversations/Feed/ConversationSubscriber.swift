import Domain
package import FoundationEssentials
package import Rooms

/// A peer that receives all conversations of a device. On its loop.
///
/// ```
/// opening (publications are noted) ──positions──► hearing: missed messages, then new ones
/// ```
package final class ConversationSubscriber: RoomListener {
    enum State {
        /// The positions are being read. What is published meanwhile is included in them, or read afterwards.
        case opening
        case receiving(ConversationProgress, isReading: Bool)
    }

    let member: ConversationMember
    /// The user in whose room the subscriber listens.
    var user: String
    let number: ConversationShard.Number
    /// The offsets to start from, until the positions are known.
    var after: [UUID: Int]
    /// Whether the other conversations start at their beginning.
    let othersAreNew: Bool
    let sink: any ConversationSink
    unowned let shard: ConversationShard
    var state = State.opening
    /// Whether something was published before the positions were known.
    var mayHaveMissed = false
    var presence: ConversationPresence?
    /// The commands that wait for the database. The first is being performed.
    var waiting: [ConversationCommand] = []
    /// The pages to read. For the first one, the transport was asked for a turn, which may have begun.
    var turns: [Turn] = []
    /// Whether a page was sent and the peer hasn't received it yet.
    private var awaitsDrain = false
    /// How often to call ``ConversationSink/caughtUp()`` when the subscriber has caught up: once per request for it.
    private var awaitedCatchUps = 0
    /// The offsets to repeat from, once the current page is sent.
    private var rewinds: [UUID: Int] = [:]

    enum Turn {
        /// Messages that the subscriber is behind.
        case backlog
        /// The page that the first waiting command requests.
        case history
    }

    init(
        _ member: ConversationMember, user: String, after: [UUID: Int], othersAreNew: Bool,
        _ number: ConversationShard.Number,
        _ sink: any ConversationSink, on shard: ConversationShard
    ) {
        self.member = member
        self.user = user
        self.after = after
        self.othersAreNew = othersAreNew
        self.number = number
        self.sink = sink
        self.shard = shard
    }

    func end(_ cause: ConversationSinkEnd) { sink.end(cause) }

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
        if !messages.isEmpty { sink.send(SubscriberMessages(messages: messages, page: page, shared: publication)) }
        proceed()
    }

    /// Handles a change of participants. It is a hint, so it need not be in order with messages.
    private func received(_ change: ConversationChange) {
        let conversation = change.notice.conversation
        guard case .receiving = state, member.allows(conversation) else { return }
        switch change.notice.change {
        case .made, .returned: presence?.enter(conversation)
        case .left(let user):
            let summary = change.summary
            // The user may have come back since.
            if user == self.user, !summary.participants.contains(user) {
                presence?.leave(conversation, at: summary.lastOffset)
            }
            sink.send(.left(conversation: conversation, user: user, participants: summary.participants))
        }
    }

    private func received(_ reaction: ReactionNotice) {
        if case .receiving = state, member.allows(reaction.conversation) { sink.send(.reaction(reaction)) }
    }

    // MARK: Missed messages

    /// Reads what the subscriber is behind, a page at a time.
    func proceed() {
        guard case .receiving(let progress, false) = state else { return }
        guard !progress.isCaughtUp else { return reportCaughtUp() }
        state = .receiving(progress, isReading: true)
        awaitTurn(.backlog)
    }

    private func reportCaughtUp() {
        while awaitedCatchUps > 0 {
            awaitedCatchUps -= 1
            sink.caughtUp()
        }
    }

    /// Asks for ``ConversationSink/caughtUp()`` when everything so far was sent.
    package func awaitCatchUp() {
        awaitedCatchUps += 1
        proceed()
    }

    /// Repeats the messages after these offsets. ``ConversationSink/caughtUp()`` reports when all were sent.
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
        if turns.count == 1 { sink.awaitTurn() }
    }

    /// Reads the next page.
    package func hasTurn() {
        switch turns.first {
        case .backlog?:
            guard case .receiving(let progress, true) = state else { return endTurn() }
            guard let next = progress.next else { return endTurn(progress) }
            shard.readPage(of: next.conversation, after: next.after, for: self)
        case .history?:
            if let command = waiting.first { shard.perform(command, for: self) }
        case nil: sink.endTurn()
        }
    }

    private func endTurn() {
        if !turns.isEmpty { turns.removeFirst() }
        sink.endTurn()
        if !turns.isEmpty { sink.awaitTurn() }
    }

    private func endTurn(_ progress: ConversationProgress) {
        state = .receiving(progress, isReading: false)
        rewind()
        endTurn()
        proceed()
    }

    func reportDrain() {
        awaitsDrain = true
        sink.reportDrain()
    }

    /// - Parameter page: `nil` if the device no longer takes part in the conversation.
    func take(_ page: ConversationPage?, of conversation: UUID) {
        guard case .receiving(var progress, true) = state else { return }
        guard let page else {
            progress.remove(conversation)
            return endTurn(progress)
        }
        let messages = progress.read(page)
        guard !messages.isEmpty else { return endTurn(progress) }
        state = .receiving(progress, isReading: true)
        sink.send(SubscriberMessages(messages: messages, page: page, shared: nil))
        // The next page is read when the peer has received this one.
        reportDrain()
    }

    /// Continues after the peer has received what was sent.
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
