import ActionCable
import LiveConversations
import Messaging
import Wire

/// What a subscription to one conversation, or to all of a device's, is told.
final class CableConversationSink: ConversationSink {
    private unowned let outlet: SubscriptionOutlet
    private let isOfOne: Bool
    /// It is told who is there as it is told everything else.
    private let tellsPresence: Bool
    /// Told by the extended protocol.
    private var present: PresentUsers
    /// Of a page that was read, what the peer has yet to be sent.
    private var unsent: ArraySlice<KeptContent> = []
    /// ``ConversationSubscription``'s to set, while it is inside.
    var subscriber: ConversationSubscriber?

    init(_ outlet: SubscriptionOutlet, isOfOne: Bool, tellsPresence: Bool) {
        self.outlet = outlet
        self.isOfOne = isOfOne
        self.tellsPresence = tellsPresence
        present = PresentUsers(tellsJoins: outlet.joins)
    }

    func admits(messages count: Int) -> Bool { outlet.admits(messages: count) }

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
        guard let subscriber else { return }
        for entry in sent.entries where !entry.isNew {
            for message in entry.page.messages where subscriber.isPast(message) {
                // What was read and waits for its peer comes in its turn.
                guard !unsent.contains(where: { $0.tells(message) }) else { continue }
                outlet.send(ConversationEvent.message(message, routingKey: entry.page.routingKey).content)
            }
        }
    }

    func send(_ heard: HeardMessages) {
        let contents = heard.form(make: ConversationContents.init)
        // What was read leaves as the peer takes it.
        guard heard.shared == nil else {
            for index in heard.messages.indices { send(contents[index]) }
            return
        }
        unsent += heard.messages.indices.map { contents[$0] }
        sendUnsent()
    }

    private func sendUnsent() {
        while outlet.hasRoom, let content = unsent.popFirst() { send(content) }
    }

    /// The peer has taken what it was sent.
    ///
    /// - Returns: Whether that was all. If not, more of what was read is sent now.
    func sendsAll() -> Bool {
        guard unsent.isEmpty else {
            sendUnsent()
            return false
        }
        outlet.reportsDrain = false
        return true
    }

    private func send(_ kept: KeptContent) { outlet.send(kept.content, at: kept.position) }

    func reportDrain() { outlet.reportsDrain = true }
    func awaitTurn() { outlet.awaitTurn() }
    func endTurn() { outlet.endTurn() }
    func caughtUp() { outlet.confirmHistory() }

    func end(_ cause: ConversationSinkEnd) {
        // The connection has the same ticket: it ends by itself, and says why.
        if case .expired = cause { return }
        outlet.revoke()
    }

    // MARK: Who is there, by the extended protocol

    /// Of all conversations at once it isn't told.
    var wantsPresence: Bool { tellsPresence || wantsPresenceAlone }
    var wantsPresenceAlone: Bool { outlet.isExtended && isOfOne }

    func tellPresence(_ wish: CablePresenceWish) -> Bool {
        guard isOfOne else { return false }
        for presence in present.take(wish) { outlet.send(presence) }
        return true
    }

    private func tellPresence(_ users: [String]) {
        guard isOfOne else { return }
        for presence in present.update(users) { outlet.send(presence) }
    }
}
