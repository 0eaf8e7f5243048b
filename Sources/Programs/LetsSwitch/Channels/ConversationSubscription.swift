import ActionCable
import Domain
import FoundationEssentials
import LiveConversations
import Messaging
import Postgres
import Wire

/// A place in one conversation, or in all of a device's.
///
/// ```
/// opening (what is said waits) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
final class ConversationSubscription: CableSubscription {
    private let member: ConversationMember
    /// `nil`: all.
    private let conversation: UUID?
    private let after: [UUID: Int]
    private let conversations: Conversations
    private unowned let outlet: SubscriptionOutlet
    /// What it is told.
    private let sink: CableConversationSink
    private var state = State.opening([], [])
    /// What was missed, as the client has said, and is yet to be looked up.
    private var unread: [CableHistory] = []
    /// So much of it may be: while the database is away, nothing else holds back who asks again and again.
    static let unreadLimit = 8

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
        self.conversations = conversations
        self.outlet = outlet
        sink = CableConversationSink(outlet, isOfOne: conversation != nil, tellsPresence: wantsPresence)
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
            case .failure: outlet.retry { [weak self] in self?.open() }
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
                member, user: positions.user, after: starts, othersAreNew: true, sink)
        else { return }
        guard case .opening(let said, let histories) = state else { return shard.leave(subscriber) }
        state = .inside(subscriber)
        sink.subscriber = subscriber
        if missed != nil { subscriber.awaitCatchUp() }
        for command in said { subscriber.received(command) }
        for history in histories { replay(history) }
    }

    func end() {
        let last = state
        state = .over
        sink.subscriber = nil
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
                return outlet.retry { [weak self] in self?.readFirst() }
            case .failure: outlet.rejectHistory()
            }
            unread.removeFirst()
            readFirst()
        }
    }

    // MARK: What it is told

    func tellPresence(_ wish: CablePresenceWish) -> Bool { sink.tellPresence(wish) }

    func hasTurn() {
        if case .inside(let subscriber) = state { subscriber.hasTurn() }
    }

    func allSent() {
        guard sink.sendsAll() else { return }
        if case .inside(let subscriber) = state { subscriber.drained() }
    }
}
