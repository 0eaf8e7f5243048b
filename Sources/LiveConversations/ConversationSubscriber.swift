import Access
import Basics
import Domain
package import FoundationEssentials
package import Messaging
package import Rooms
import Server
package import Sockets

/// What a subscriber's events leave by: a WebSocket of its own, an event stream, or a channel of another protocol.
package protocol ConversationSink: AnyObject {
    func send(_ event: ConversationEvent)
    /// Messages of a page, the last ones of it.
    ///
    /// - Parameter shared: What others hear too; `nil` for what is read for this one alone.
    func send(_ messages: ArraySlice<ConversationMessage>, of page: ConversationPage, _ shared: Publication?)
    /// ``ConversationSubscriber/drained()`` is to be called once the peer has what was sent.
    func reportDrain()
    /// ``ConversationSubscriber/hasTurn()`` is to be called once a page may be read for it. There is one turn at a time.
    func awaitTurn()
    /// What was read is sent, or there was nothing.
    func endTurn()
    /// What ``ConversationSubscriber/awaitCatchUp()`` was about is sent.
    func caughtUp()
    /// Whether its address may have so many messages more kept.
    func admits(messages count: Int) -> Bool
    /// Whether it is told who is there.
    var wantsPresence: Bool { get }
    /// Also that it is there alone.
    var wantsPresenceAlone: Bool { get }
    /// The subscriber breaks the rules, or is not to be here any more.
    func end(_ cause: ConversationSinkEnd)
}

extension ConversationSink {
    package func caughtUp() {}
    package var wantsPresenceAlone: Bool { false }
}

/// Who sends for one subscriber alone has it read whenever it can.
package protocol ExclusiveConversationSink: ConversationSink {
    var subscriber: ConversationSubscriber? { get }
}

extension ExclusiveConversationSink {
    package func awaitTurn() { subscriber?.hasTurn() }
    package func endTurn() {}
}

package enum ConversationSinkEnd {
    /// More messages wait than may.
    case tooFast
    /// Its device was erased.
    case erased
    /// Its ticket is over.
    case expired
}

/// One peer that hears all conversations of a device, on its loop.
///
/// ```
/// opening (what is published is noted) ──positions──► hearing: what was missed, then what is said
/// ```
package final class ConversationSubscriber: RoomPeer {
    private enum State {
        /// It is asked where its conversations stand. What is published meanwhile is told by that, or looked for after it.
        case opening
        case hearing(ConversationProgress, isReading: Bool)
    }

    let member: ConversationMember
    /// The user that it is; whose room it is in.
    private(set) var user: String
    let number: ConversationShard.Number
    /// Where it begins, until it knows where its conversations stand.
    private var after: [UUID: Int]
    /// In the others at their beginning.
    private let othersAreNew: Bool
    private let sink: any ConversationSink
    private unowned let shard: ConversationShard
    /// ``ConversationShard``'s to set.
    var place: ConversationShard.Place?
    /// The same: its ticket's end.
    var expiry: TimerID?
    private var state = State.opening
    /// Something was published before it knew where it stands.
    private var mayHaveMissed = false
    private var presence: ConversationPresence?
    /// What it said and the database hasn't heard yet; the first is on its way.
    private var waiting: [ConversationCommand] = []
    /// What is to be read for it, a page each: the first has its turn, or waits for the sink's.
    private var turns: [Turn] = []
    /// What was read is sent, and the peer has yet to take it.
    private var awaitsDrain = false
    /// So many times the sink is told once it has all that was said up to now.
    private var awaitedCatchUps = 0
    /// To be heard again once what is read now is sent.
    private var rewinds: [UUID: Int] = [:]

    private enum Turn {
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

    // MARK: What it says

    /// Whoever lets it speak has let its device pay.
    package func received(_ command: ConversationCommand) {
        guard waiting.count < SocketLimits.waitingMessages else { return sink.end(.tooFast) }
        waiting.append(command)
        if waiting.count == 1 { begin(command) }
    }

    private func begin(_ command: ConversationCommand) {
        switch command {
        case .history: awaitTurn(.history)
        case .send(let message, let ref)
        where (try? member.check(message.target)) != nil && !sink.admits(messages: message.target.count):
            done(shard.conversations.refusal(ref: ref))
        case .send, .refused: shard.perform(command, for: self)
        }
    }

    /// What it said first is done.
    func done(_ event: ConversationEvent) {
        sink.send(event)
        if turns.first == .history, case .history? = waiting.first {
            // The next one once the peer has that: whoever asks for many pages at once is no slow reader.
            reportDrain()
        } else {
            beginNext()
        }
    }

    private func beginNext() {
        if !waiting.isEmpty { waiting.removeFirst() }
        if let next = waiting.first { begin(next) }
    }

    /// What of that it said before isn't told anew: of a repeat it would hear nothing.
    package func isPast(_ message: ConversationMessage) -> Bool {
        switch state {
        case .opening: message.offset <= after[message.conversation] ?? (othersAreNew ? 0 : .max)
        case .hearing(let progress, _): progress.isPast(message)
        }
    }

    func end(_ cause: ConversationSinkEnd) { sink.end(cause) }

    // MARK: What it hears

    package func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {}
    package func roomClosed() {}

    package func deliver(_ publication: Publication) {
        if let change = publication.message as? ConversationChange { return received(change) }
        guard let page = (publication.message as? ConversationPublication)?.page, member.allows(page.conversation)
        else { return }
        guard case .hearing(var progress, let isReading) = state else {
            mayHaveMissed = true
            return
        }
        presence?.enter(page.conversation, at: page.lastOffset)
        let messages = progress.published(page, isBusy: isReading)
        state = .hearing(progress, isReading: isReading)
        if !messages.isEmpty { sink.send(messages, of: page, publication) }
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

    // MARK: Who is there

    private func beginPresence(_ positions: ConversationPositions, _ allowed: [ConversationPositions.Position]) {
        let presence = shard.makePresence(of: positions.userID, for: self, isTold: sink.wantsPresence)
        self.presence = presence
        for position in allowed.prefix(ConversationEvent.offsetsInHandshake) where !position.hasLeft {
            presence.enter(position.conversation)
        }
    }

    /// Somebody has come or gone.
    func tellPresence(in conversation: UUID) {
        guard let users = presence?.company(of: conversation, orAlone: sink.wantsPresenceAlone) else { return }
        guard let names = shard.names(of: users, for: self, in: conversation) else { return }
        presence?.told(in: conversation)
        sink.send(.presence(conversation: conversation, users: names))
    }

    func endPresence() {
        presence?.leaveAll()
        presence = nil
    }

    // MARK: Where it stands

    /// What where its conversations stand says of who it is.
    enum Opening {
        case opened
        /// The device has another name than it had: it is to hear in that one's room.
        case otherUser
    }

    /// Where its conversations stand.
    func opened(_ positions: ConversationPositions) -> Opening {
        // Names are of ASCII.
        guard positions.user == user else {
            user = positions.user
            if case .opening = state { return .otherUser }
            // It was erased, and is somebody else since.
            end(.erased)
            return .opened
        }
        let allowed = positions.offsets.filter { member.allows($0.conversation) }
        switch state {
        case .opening:
            state = .hearing(ConversationProgress(allowed, after: after, othersAreNew: othersAreNew), isReading: false)
            after = [:]
            sink.send(
                .handshake(
                    id: UUID(), ConversationPositions(user: positions.user, userID: positions.userID, offsets: allowed))
            )
            beginPresence(positions, allowed)
            if mayHaveMissed { shard.readPositions(for: self) }
        case .hearing(var progress, let isReading):
            progress.found(allowed)
            // That it has left may have been missed as well.
            for position in allowed where position.hasLeft {
                presence?.leave(position.conversation, at: position.lastOffset)
            }
            state = .hearing(progress, isReading: isReading)
        }
        proceed()
        return .opened
    }

    /// Reads what it is behind, if anything, a page at a time.
    private func proceed() {
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

    // MARK: What it has missed

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

    private func awaitTurn(_ turn: Turn) {
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

    private func reportDrain() {
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
        sink.send(messages, of: page, nil)
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
