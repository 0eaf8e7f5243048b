import ActionCable
import Basics
import Domain
import Wire

/// Sends the events of one conversation, or of all conversations of a device, to a subscription.
final class CableConversationSink: ConversationSink {
    private unowned let transport: SubscriptionTransport
    private let isOfOne: Bool
    /// Whether presence is sent as ordinary messages.
    private let sendsPresence: Bool
    /// Presence in the extended protocol.
    private var present: PresentUsers
    /// The messages of a read page that weren't sent yet.
    private var unsent: ArraySlice<KeptContent> = []
    /// Set by ``ConversationSubscription`` while it is subscribed.
    var subscriber: ConversationSubscriber?

    init(_ transport: SubscriptionTransport, isOfOne: Bool, sendsPresence: Bool) {
        self.transport = transport
        self.isOfOne = isOfOne
        self.sendsPresence = sendsPresence
        present = PresentUsers(sendsJoins: transport.joins)
    }

    var requester: Requester? { transport.requester }
    func admits(messages count: Int) -> Bool { transport.admits(messages: count) }

    func send(_ event: ConversationEvent) {
        switch event {
        case .handshake: break
        case .sent(_, let sent): answer(sent)
        case .presence(_, let users):
            if transport.isExtended { sendPresence(users) }
            if sendsPresence { transport.send(event.content) }
        case .message, .left, .reaction, .reacted, .history, .error: transport.send(event.content)
        }
    }

    /// Sends a repeated message again, to its sender only. A new message arrives through the conversation. The message's
    /// position in the history stays the same.
    private func answer(_ sent: ConversationStore.Sent) {
        guard let subscriber else { return }
        for entry in sent.entries where !entry.isNew {
            for message in entry.page.messages where subscriber.isPast(message) {
                // A read message is sent in its order.
                guard !unsent.contains(where: { $0.contains(message) }) else { continue }
                transport.send(ConversationEvent.message(message, routingKey: entry.page.routingKey).content)
            }
        }
    }

    func send(_ batch: SubscriberMessages) {
        let contents = batch.form(make: ConversationContents.init)
        // Read messages are sent as the peer receives them.
        guard batch.shared == nil else {
            for index in batch.messages.indices { send(contents[index]) }
            return
        }
        unsent += batch.messages.indices.map { contents[$0] }
        sendUnsent()
    }

    private func sendUnsent() {
        while transport.hasRoom, let content = unsent.popFirst() { send(content) }
    }

    /// Continues after the peer has received what was sent.
    ///
    /// - Returns: Whether everything was sent. Otherwise more of the read messages are sent now.
    func sendsAll() -> Bool {
        guard unsent.isEmpty else {
            sendUnsent()
            return false
        }
        transport.reportsDrain = false
        return true
    }

    private func send(_ kept: KeptContent) { transport.send(kept.content, at: kept.position) }

    func reportDrain() { transport.reportsDrain = true }
    func awaitTurn() { transport.awaitTurn() }
    func endTurn() { transport.endTurn() }
    func caughtUp() { transport.confirmHistory() }

    func end(_ cause: ConversationSinkEnd) {
        // The connection has the same ticket. It ends itself and sends the reason.
        if case .expired = cause { return }
        transport.revoke()
    }

    // MARK: Presence in the extended protocol

    /// Presence isn't sent to a subscription for all conversations.
    var wantsPresence: Bool { sendsPresence || wantsPresenceAlone }
    var wantsPresenceAlone: Bool { transport.isExtended && isOfOne }

    func handlePresence(_ request: CablePresenceRequest) -> Bool {
        guard isOfOne else { return false }
        for presence in present.take(request) { transport.send(presence) }
        return true
    }

    private func sendPresence(_ users: [String]) {
        guard isOfOne else { return }
        for presence in present.update(users) { transport.send(presence) }
    }
}
