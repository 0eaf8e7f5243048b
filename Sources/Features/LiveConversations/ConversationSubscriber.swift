package import FoundationEssentials
import Messaging
package import Rooms

/// One peer that hears all conversations of a device, on its loop.
///
/// ```
/// opening (what is published is noted) ──positions──► hearing: what was missed, then what is said
/// ```
package final class ConversationSubscriber: RoomListener {
    enum State {
        /// It is asked where its conversations stand. What is published meanwhile is told by that, or looked for after it.
        case opening
        case hearing(ConversationProgress, isReading: Bool)
    }

    let member: ConversationMember
    /// The user that it is; whose room it is in.
    var user: String
    let number: ConversationShard.Number
    /// Where it begins, until it knows where its conversations stand.
    var after: [UUID: Int]
    /// In the others at their beginning.
    let othersAreNew: Bool
    let sink: any ConversationSink
    unowned let shard: ConversationShard
    var state = State.opening
    /// Something was published before it knew where it stands.
    var mayHaveMissed = false
    var presence: ConversationPresence?
    /// What it said and the database hasn't heard yet; the first is on its way.
    var waiting: [ConversationCommand] = []
    /// What is to be read for it, a page each: the first has its turn, or waits for the sink's.
    var turns: [Turn] = []
    /// What was read is sent, and the peer has yet to take it.
    private var awaitsDrain = false
    /// So many times the sink is told once it has all that was said up to now.
    private var awaitedCatchUps = 0
    /// To be heard again once what is read now is sent.
    private var rewinds: [UUID: Int] = [:]

    enum Turn {
        /// Of what it is behind.
        case backlog
        /// What it asked for by the first of its commands that wait.
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

    // MARK: What it hears

    package func deliver(_ publication: Publication) {
        if let change = publication.message as? ConversationChange { return received(change) }
        guard let page = publication.page, member.allows(page.conversation) else { return }
        guard case .hearing(var progress, let isReading) = state else {
            mayHaveMissed = true
            return
        }
        presence?.enter(page.conversation, at: page.lastOffset)
        let messages = progress.published(page, isBusy: isReading)
        state = .hearing(progress, isReading: isReading)
        if !messages.isEmpty { sink.send(HeardMessages(messages: messages, page: page, shared: publication)) }
        proceed()
    }

    /// Of who takes part: a hint, that needs not be in order with what is said.
    private func received(_ change: ConversationChange) {
        let conversation = change.notice.conversation
        guard case .hearing = state, member.allows(conversation) else { return }
        switch change.notice.change {
        case .made, .returned: presence?.enter(conversation)
        case .left(let user):
            let summary = change.summary
            // Unless it has come back since.
            if user == self.user, !summary.participants.contains(user) {
                presence?.leave(conversation, at: summary.lastOffset)
            }
            sink.send(.left(conversation: conversation, user: user, participants: summary.participants))
        }
    }

    // MARK: What it has missed

    /// Reads what it is behind, if anything, a page at a time.
    func proceed() {
        guard case .hearing(let progress, false) = state else { return }
        guard !progress.isCaughtUp else { return tellCaughtUp() }
        state = .hearing(progress, isReading: true)
        awaitTurn(.backlog)
    }

    private func tellCaughtUp() {
        while awaitedCatchUps > 0 {
            awaitedCatchUps -= 1
            sink.caughtUp()
        }
    }

    /// ``ConversationSink/caughtUp()`` says when it has all.
    package func awaitCatchUp() {
        awaitedCatchUps += 1
        proceed()
    }

    /// It is told anew what was said behind these offsets. ``ConversationSink/caughtUp()`` says when it has all.
    package func replay(after offsets: [UUID: Int]) {
        let allowed = offsets.filter { member.allows($0.key) }
        switch state {
        case .opening: after.merge(allowed) { min($0, $1) }
        case .hearing: rewinds.merge(allowed) { min($0, $1) }
        }
        awaitedCatchUps += 1
        rewind()
        proceed()
    }

    private func rewind() {
        guard !rewinds.isEmpty, case .hearing(var progress, false) = state else { return }
        progress.rewind(to: rewinds)
        rewinds = [:]
        state = .hearing(progress, isReading: false)
    }

    func awaitTurn(_ turn: Turn) {
        turns.append(turn)
        if turns.count == 1 { sink.awaitTurn() }
    }

    /// A page may be read.
    package func hasTurn() {
        switch turns.first {
        case .backlog?:
            guard case .hearing(let progress, true) = state else { return endTurn() }
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
        state = .hearing(progress, isReading: false)
        rewind()
        endTurn()
        proceed()
    }

    func reportDrain() {
        awaitsDrain = true
        sink.reportDrain()
    }

    /// - Parameter page: `nil`: it is none of the device's conversations any more.
    func take(_ page: ConversationPage?, of conversation: UUID) {
        guard case .hearing(var progress, true) = state else { return }
        guard let page else {
            progress.forget(conversation)
            return endTurn(progress)
        }
        let messages = progress.read(page)
        guard !messages.isEmpty else { return endTurn(progress) }
        state = .hearing(progress, isReading: true)
        sink.send(HeardMessages(messages: messages, page: page, shared: nil))
        // More is read once the peer has that.
        reportDrain()
    }

    /// The peer has taken what was sent.
    package func drained() {
        guard awaitsDrain else { return }
        awaitsDrain = false
        switch turns.first {
        case .backlog?:
            if case .hearing(let progress, true) = state { endTurn(progress) }
        case .history?:
            endTurn()
            beginNext()
        case nil: break
        }
    }
}
