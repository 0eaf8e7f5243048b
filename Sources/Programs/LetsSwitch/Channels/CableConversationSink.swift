import ActionCable
import Basics
import LiveConversations
import Messaging
import Wire

/// Sends the events of one conversation, or of all conversations of a device, to a subscription.
final class CableConversationSink: ConversationSink {
    private unowned let outlet: SubscriptionOutlet
    private let isOfOne: Bool
    /// Whether presence is sent as ordinary messages.
    private let tellsPresence: Bool
    /// Presence in the extended protocol.
    private var present: PresentUsers
    /// The messages of a read page that weren't sent yet.
    private var unsent: ArraySlice<KeptContent> = []
    /// Set by ``ConversationSubscription`` while it is subscribed.
    var subscriber: ConversationSubscriber?

    init(_ outlet: SubscriptionOutlet, isOfOne: Bool, tellsPresence: Bool) {
        self.outlet = outlet
        self.isOfOne = isOfOne
        self.tellsPresence = tellsPresence
        present = PresentUsers(tellsJoins: outlet.joins)
    }

    var requester: Requester? { outlet.requester }
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

    /// Sends a repeated message again, to its sender only. A new message arrives through the conversation. The message's
    /// position in the history stays the same.
    private func answer(_ sent: ConversationStore.Sent) {
        guard let subscriber else { return }
        for entry in sent.entries where !entry.isNew {
            for message in entry.page.messages where subscriber.isPast(message) {
                // A read message is sent in its order.
                guard !unsent.contains(where: { $0.tells(message) }) else { continue }
                outlet.send(ConversationEvent.message(message, routingKey: entry.page.routingKey).content)
            }
        }
    }

    func send(_ heard: HeardMessages) {
        let contents = heard.form(make: ConversationContents.init)
        // Read messages are sent as the peer receives them.
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

    /// Continues after the peer has received what was sent.
    ///
    /// - Returns: Whether everything was sent. Otherwise more of the read messages are sent now.
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
        // The connection has the same ticket. It ends itself and sends the reason.
        if case .expired = cause { return }
        outlet.revoke()
    }

    // MARK: Presence in the extended protocol

    /// Presence isn't sent to a subscription for all conversations.
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
