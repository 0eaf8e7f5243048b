import Access
import ActionCable
import Domain
import FoundationEssentials
import LiveConversations
import Messaging
import Postgres
import Rooms
import Server
import Sockets
import Wire

/// A place in one conversation, or in all of a device's.
///
/// ```
/// opening (what is said waits) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
final class ConversationSubscription: CableSubscription, ConversationSink {
    private let member: ConversationMember
    /// `nil`: all.
    private let conversation: UUID?
    private let after: [UUID: Int]
    /// It is told who is there as it is told everything else.
    private let tellsPresence: Bool
    private let conversations: Conversations
    private unowned let outlet: SubscriptionOutlet
    private var state = State.opening([], [])
    /// Of a page that was read, what the peer has yet to be sent.
    private var unsent: ArraySlice<KeptContent> = []
    /// What was missed, as the client has said, and is yet to be looked up.
    private var unread: [CableHistory] = []
    /// So much of it may be: while the database is away, nothing else holds back who asks again and again.
    static let unreadLimit = 8
    /// Told by the extended protocol.
    private var present: PresentUsers

    private enum State {
        case opening([ConversationCommand], [CableHistory])
        case inside(ConversationSubscriber)
        case over
    }

    init(
        _ member: ConversationMember, _ conversation: UUID?, after: [UUID: Int], wantsPresence: Bool,
        _ conversations: Conversations, by outlet: SubscriptionOutlet
    ) {
        self.member = member
        self.conversation = conversation
        self.after = after
        tellsPresence = wantsPresence
        present = PresentUsers(tellsJoins: outlet.joins)
        self.conversations = conversations
        self.outlet = outlet
    }

    // MARK: Coming and going

    func open() {
        outlet.run { [conversations, device = member.device, only = conversation, history = outlet.history] in
            // Before what was missed is looked up: where it stands then is behind that.
            let positions = try await conversations.store.positions(of: device)
            var kept: [UUID: KeptHistory]?
            if let history {
                kept = try await conversations.store.histories(
                    of: device, only: only, since: history.since, named: history.conversations)
            }
            return (positions, kept)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(let (positions, kept)):
                let isInside = conversation.map { own in positions.offsets.contains { $0.conversation == own } }
                if isInside ?? true { enter(from: positions, kept) } else { outlet.reject() }
            case .failure(is RequestError): outlet.reject()
            // The database is away: the client waits, as it would for a slow network.
            case .failure: outlet.call(after: CableLimits.retryPause) { [weak self] in self?.open() }
            }
        }
    }

    /// - Parameters:
    ///   - positions: Where its conversations stood before it was confirmed: what is said behind that is heard.
    ///   - kept: If it goes on from what it has missed.
    private func enter(from positions: ConversationPositions, _ kept: [UUID: KeptHistory]?) {
        // Does what has waited: something is said, or this is over.
        outlet.confirm()
        guard case .opening = state else { return }
        let missed = kept.flatMap { kept in outlet.history?.starts(in: kept, after: after, for: member) }
        if kept != nil, missed == nil { outlet.rejectHistory() }
        var starts = missed ?? after
        for position in positions.offsets where member.allows(position.conversation) {
            if starts[position.conversation] == nil { starts[position.conversation] = position.lastOffset }
        }
        let shard = conversations.shard(on: outlet.reactor, loop: outlet.loop)
        guard
            let subscriber = shard.enter(
                member, user: positions.user, after: starts, othersAreNew: true, self)
        else { return }
        guard case .opening(let said, let histories) = state else { return shard.leave(subscriber) }
        state = .inside(subscriber)
        if missed != nil { subscriber.awaitCatchUp() }
        for command in said { subscriber.received(command) }
        for history in histories { replay(history) }
    }

    func end() {
        let last = state
        state = .over
        guard case .inside(let subscriber) = last else { return }
        conversations.shard(on: outlet.reactor, loop: outlet.loop).leave(subscriber)
    }

    // MARK: What is said

    func perform(_ action: CableAction) throws(CableActionError) {
        let wanted = try ConversationCommand(action, in: conversation)
        switch state {
        case .opening(let said, let histories): state = .opening(said + [wanted], histories)
        case .inside(let subscriber): subscriber.received(wanted)
        case .over: break
        }
    }

    func admits(messages count: Int) -> Bool { outlet.admits(messages: count) }

    // MARK: What it has missed

    func replay(_ history: CableHistory) {
        switch state {
        case .opening(let said, let histories): state = .opening(said, histories + [history])
        case .inside:
            guard unread.count < Self.unreadLimit else { return outlet.rejectHistory() }
            unread.append(history)
            if unread.count == 1 { readFirst() }
        case .over: break
        }
    }

    /// One is looked up at a time, however many are asked for.
    private func readFirst() {
        guard let history = unread.first else { return }
        outlet.run { [conversations, device = member.device, only = conversation] in
            try await conversations.store.histories(
                of: device, only: only, since: history.since, named: history.conversations)
        } then: { [weak self] outcome in
            guard let self, case .inside(let subscriber) = state else { return }
            switch outcome {
            case .success(let kept):
                if let missed = history.starts(in: kept, for: member) {
                    subscriber.replay(after: missed)
                } else {
                    outlet.rejectHistory()
                }
            case .failure(let error as PostgresError) where error.isUnavailable:
                return outlet.call(after: CableLimits.retryPause) { [weak self] in self?.readFirst() }
            case .failure: outlet.rejectHistory()
            }
            unread.removeFirst()
            readFirst()
        }
    }

    func caughtUp() { outlet.confirmHistory() }

    // MARK: What it is told

    func send(_ event: ConversationEvent) {
        switch event {
        case .handshake: break
        case .sent(_, let sent): answer(sent)
        case .presence(_, let users):
            if outlet.isExtended { tellPresence(users) }
            if tellsPresence { outlet.send(event.content) }
        case .message, .left, .history, .error: outlet.send(event.content)
        }
    }

    /// A message that one has said comes as one. That it was said before, and heard, is told only who says it again: where in what is kept
    /// it stands for this one doesn't change by that.
    private func answer(_ sent: ConversationStore.Sent) {
        guard case .inside(let subscriber) = state else { return }
        for entry in sent.entries where !entry.isNew {
            let stream = Topic.conversation(entry.page.conversation).name
            for message in entry.page.messages where subscriber.isPast(message) {
                // What was read and waits for its peer comes in its turn.
                guard !unsent.contains(where: { $0.position.stream == stream && $0.position.offset == message.offset })
                else { continue }
                outlet.send(ConversationEvent.message(message, routingKey: entry.page.routingKey).content)
            }
        }
    }

    func send(_ messages: ArraySlice<ConversationMessage>, of page: ConversationPage, _ shared: Publication?) {
        let contents = shared?.form { ConversationContents(page) } ?? ConversationContents(page)
        // What was read leaves as the peer takes it.
        guard shared == nil else {
            for index in messages.indices { send(contents[index]) }
            return
        }
        unsent += messages.indices.map { contents[$0] }
        sendUnsent()
    }

    private func sendUnsent() {
        while outlet.hasRoom, let content = unsent.popFirst() { send(content) }
    }

    private func send(_ kept: KeptContent) { outlet.send(kept.content, at: kept.position) }

    // MARK: Who is there, by the extended protocol

    /// Of all conversations at once it isn't told.
    var wantsPresence: Bool { tellsPresence || wantsPresenceAlone }
    var wantsPresenceAlone: Bool { outlet.isExtended && conversation != nil }

    func tellPresence(_ wish: CablePresenceWish) -> Bool {
        guard conversation != nil else { return false }
        for presence in present.take(wish) { outlet.send(presence) }
        return true
    }

    private func tellPresence(_ users: [String]) {
        guard conversation != nil else { return }
        for presence in present.update(users) { outlet.send(presence) }
    }

    func reportDrain() { outlet.reportsDrain = true }

    func allSent() {
        guard unsent.isEmpty else { return sendUnsent() }
        outlet.reportsDrain = false
        if case .inside(let subscriber) = state { subscriber.drained() }
    }

    func awaitTurn() { outlet.awaitTurn() }

    func hasTurn() {
        if case .inside(let subscriber) = state { subscriber.hasTurn() }
    }

    func endTurn() { outlet.endTurn() }

    func end(_ cause: ConversationSinkEnd) {
        // The connection has the same ticket: it ends by itself, and says why.
        if case .expired = cause { return }
        outlet.revoke()
    }
}
