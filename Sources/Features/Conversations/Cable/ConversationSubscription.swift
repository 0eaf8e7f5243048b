import ActionCable
import Domain
import FoundationEssentials
import Postgres
import Wire

/// A subscription to one conversation, or to all conversations of a device.
///
/// ```
/// opening (commands wait) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
final class ConversationSubscription: CableSubscription {
    private let member: ConversationMember
    /// The subscribed conversation. `nil` for all conversations.
    private let conversation: UUID?
    private let after: [UUID: Int]
    private let conversations: Conversations
    private unowned let transport: SubscriptionTransport
    /// Sends the subscriber's events to the subscription.
    private let output: CableConversationTransport
    private var state = State.opening([], [])
    /// The histories that the client has requested and that weren't read yet.
    private var unread: [CableHistory] = []
    /// The maximum number of unread histories. While the database is unavailable, no other limit applies to repeated
    /// requests.
    static let unreadLimit = 8

    private enum State {
        case opening([ConversationCommand], [CableHistory])
        case inside(ConversationSubscriber)
        case over
    }

    init(
        _ member: ConversationMember, _ conversation: UUID?, after: [UUID: Int], wantsPresence: Bool,
        _ conversations: Conversations, by transport: SubscriptionTransport
    ) {
        self.member = member
        self.conversation = conversation
        self.after = after
        self.conversations = conversations
        self.transport = transport
        output = CableConversationTransport(transport, isOfOne: conversation != nil, sendsPresence: wantsPresence)
    }

    // MARK: Entering and leaving

    func open() {
        transport.run { [conversations, device = member.device, only = conversation, history = transport.history] in
            // The positions are read before the history, so that they are never later than the history.
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
                if isInside ?? true { enter(from: positions, kept) } else { transport.reject() }
            case .failure(is RequestError): transport.reject()
            // While the database is unavailable, the client waits as on a slow network.
            case .failure: transport.retry { [weak self] in self?.open() }
            }
        }
    }

    /// Confirms the subscription, and adds its subscriber.
    ///
    /// - Parameters:
    ///   - positions: The positions of the device's conversations before the confirmation. Later messages are sent.
    ///   - kept: The histories that can be repeated. `nil` if the client doesn't resume.
    private func enter(from positions: ConversationPositions, _ kept: [UUID: KeptHistory]?) {
        // Confirming performs commands that arrived earlier. These commands may end the subscription.
        transport.confirm()
        guard case .opening = state else { return }
        let missed = kept.flatMap { kept in transport.history?.starts(in: kept, after: after, for: member) }
        if kept != nil, missed == nil { transport.rejectHistory() }
        var starts = missed ?? after
        for position in positions.offsets where member.allows(position.conversation) {
            if starts[position.conversation] == nil { starts[position.conversation] = position.lastOffset }
        }
        let shard = conversations.shard(on: transport.reactor, loop: transport.loop)
        guard
            let subscriber = shard.enter(
                member, user: positions.user, after: starts, othersAreNew: true, output)
        else { return }
        guard case .opening(let commands, let histories) = state else { return shard.leave(subscriber) }
        state = .inside(subscriber)
        output.subscriber = subscriber
        if missed != nil { subscriber.awaitCatchUp() }
        for command in commands { subscriber.received(command) }
        for history in histories { replay(history) }
    }

    func end() {
        let last = state
        state = .over
        output.subscriber = nil
        guard case .inside(let subscriber) = last else { return }
        conversations.shard(on: transport.reactor, loop: transport.loop).leave(subscriber)
    }

    // MARK: Actions of the client

    func perform(_ action: CableAction) throws(CableActionError) {
        let command = try ConversationCommand(action, in: conversation)
        switch state {
        case .opening(let commands, let histories): state = .opening(commands + [command], histories)
        case .inside(let subscriber): subscriber.received(command)
        case .over: break
        }
    }

    // MARK: Missed messages

    func replay(_ history: CableHistory) {
        switch state {
        case .opening(let commands, let histories): state = .opening(commands, histories + [history])
        case .inside:
            guard unread.count < Self.unreadLimit else { return transport.rejectHistory() }
            unread.append(history)
            if unread.count == 1 { readFirst() }
        case .over: break
        }
    }

    /// Reads the first history in `unread`. Only one history is read at a time.
    private func readFirst() {
        guard let history = unread.first else { return }
        transport.run { [conversations, device = member.device, only = conversation] in
            try await conversations.store.histories(
                of: device, only: only, since: history.since, named: history.conversations)
        } then: { [weak self] outcome in
            guard let self, case .inside(let subscriber) = state else { return }
            switch outcome {
            case .success(let kept):
                if let missed = history.starts(in: kept, for: member) {
                    subscriber.replay(after: missed)
                } else {
                    transport.rejectHistory()
                }
            case .failure(let error as PostgresError) where error.isUnavailable:
                return transport.retry { [weak self] in self?.readFirst() }
            case .failure: transport.rejectHistory()
            }
            unread.removeFirst()
            readFirst()
        }
    }

    // MARK: Calls to the subscriber

    func handlePresence(_ request: CablePresenceRequest) -> Bool { output.handlePresence(request) }

    func hasTurn() {
        if case .inside(let subscriber) = state { subscriber.hasTurn() }
    }

    func allSent() {
        guard output.sendsAll() else { return }
        if case .inside(let subscriber) = state { subscriber.drained() }
    }
}
