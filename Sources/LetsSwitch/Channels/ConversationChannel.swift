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

/// `{"channel":"ConversationChannel","id":"<uuid>"}`: a conversation, from `after` on; without `id` all of a device's. With `"presence":true`
/// it is told who is there.
struct ConversationChannel: CableChannel {
    let name: StaticString = "ConversationChannel"
    let keepsHistory = true
    let conversations: Conversations

    func subscribe(
        _ parameters: CableParameters, _ outlet: SubscriptionOutlet
    ) throws(CableRejection) -> any CableSubscription {
        do {
            let id = parameters.text("id") ?? parameters.text("chatId")
            let conversation = id.flatMap(UUID.init(text:))
            let member = try ConversationMember(parameters.identity(of: outlet), only: conversation)
            guard id == nil || conversation != nil else { throw CableRejection() }
            if let conversation { try member.check(conversation) }
            let after = parameters.text("after")
            let offsets = conversation.flatMap { conversation in after.map { "\(conversation):\($0)" } } ?? after
            let subscription = ConversationSubscription(
                member, conversation, after: try ConversationOffsets(offsets).offsets,
                wantsPresence: parameters.isTrue("presence"), conversations, by: outlet)
            subscription.open()
            return subscription
        } catch {
            throw CableRejection()
        }
    }
}

/// A place in one conversation, or in all of a device's.
///
/// ```
/// opening (what is said waits) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
private final class ConversationSubscription: CableSubscription, ConversationSink {
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
    /// By the extended protocol: who is there, and whether the peer is told who comes and goes.
    private var present: Presence = .unknown(isAsked: false)
    private var tellsJoins: Bool

    private enum Presence {
        /// It hasn't been told yet.
        case unknown(isAsked: Bool)
        case known([String])
    }

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
        tellsJoins = outlet.joins
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
        let wanted: ConversationCommand
        if action.isNamed("speak") {
            wanted = command(action.members, message)
        } else if action.isNamed("history") {
            wanted = command(action.members, history)
        } else {
            throw .unknownAction
        }
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

    private func command(
        _ members: JSONObject, _ read: (JSONObject) throws(RequestError) -> ConversationCommand
    ) -> ConversationCommand {
        do throws(RequestError) {
            return try read(members)
        } catch {
            return .refused(error, ref: nil)
        }
    }

    private func message(_ members: JSONObject) throws(RequestError) -> ConversationCommand {
        guard let content = members.text("content") else { throw .invalid("content", "is missing") }
        var id: UUID?
        if let text = members.text("id") {
            id = UUID(text: text)
            guard id != nil else { throw .invalid("id", "must be a UUID") }
        }
        let target = MessageTarget.conversation(try named(by: members))
        return .send(try OutgoingMessage(content: content, target: target, id: id), ref: nil)
    }

    private func history(_ members: JSONObject) throws(RequestError) -> ConversationCommand {
        let (after, limit) = (members.count("after") ?? 0, members.count("limit") ?? ConversationPage.maximumCount)
        guard after >= 0, limit > 0 else { throw .invalid("after and limit must not be negative.") }
        return .history(try named(by: members), after: after, limit: limit, ref: nil)
    }

    /// The subscription's conversation, or where it is for all the one that an action names.
    private func named(by members: JSONObject) throws(RequestError) -> UUID {
        guard let named = conversation ?? members.text("conversation").flatMap(UUID.init(text:)) else {
            throw .invalid("conversation", "must be a UUID")
        }
        return named
    }

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
        switch wish {
        case .join: tellsJoins = true
        case .leave: tellsJoins = false
        case .presence:
            switch present {
            case .unknown: present = .unknown(isAsked: true)
            case .known(let users): outlet.send(CablePresence.info(users))
            }
        }
        return true
    }

    private func tellPresence(_ users: [String]) {
        let before = present
        present = .known(users)
        guard conversation != nil else { return }
        switch before {
        case .unknown(let isAsked):
            if isAsked { outlet.send(CablePresence.info(users)) }
        case .known(let before):
            guard tellsJoins else { return }
            for user in users where !before.contains(user) { outlet.send(CablePresence.join(user)) }
            for user in before where !users.contains(user) { outlet.send(CablePresence.leave(user)) }
        }
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

/// A message as it is told, and where it stands.
private struct KeptContent {
    let content: CableContent
    let position: CablePosition
}

/// Messages as they are told, made once for all cables of a loop.
private final class ConversationContents {
    private let contents: [KeptContent]

    init(_ page: ConversationPage) {
        let stream = Topic.conversation(page.conversation).name
        contents = page.messages.map { message in
            KeptContent(
                content: ConversationEvent.message(message, routingKey: page.routingKey).content,
                position: CablePosition(stream: stream, epoch: page.epoch, offset: message.offset))
        }
    }

    subscript(index: Int) -> KeptContent { contents[index] }
}

extension ConversationEvent {
    /// A message is told as itself.
    fileprivate var content: CableContent {
        if case .message(let message, _) = self {
            var json = JSONText()
            message.write(to: &json)
            return CableContent(type, data: json.bytes)
        }
        return CableContent(type) { data in writeMembers(to: &data) }
    }
}

extension JSONObject {
    /// Written as a number, or in a string.
    fileprivate func count(_ name: StaticString) -> Int? {
        switch self[name] {
        case .number(let digits)?, .string(let digits)?: Int(String(decoding: digits, as: UTF8.self))
        case nil, .boolean?, .null?, .nested?: nil
        }
    }
}
