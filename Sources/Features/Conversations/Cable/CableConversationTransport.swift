import ActionCable
import Basics
import Domain
import Wire

/// Sends the events of one conversation, or of all conversations of a device, to a subscription.
final class CableConversationTransport: ConversationTransport {
    private unowned let transport: SubscriptionTransport
    private let isOfOne: Bool
    /// Whether the client asked for presence as ordinary messages.
    private let sendsPresence: Bool
    /// The present users, for the extended protocol.
    private var present: PresentUsers
    /// The messages of the page that was read, without those already sent.
    private var unsent: ArraySlice<KeptContent> = []
    /// The subscriber. ``ConversationSubscription`` sets it while it is subscribed.
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

    /// Sends a repeated message again, only to its sender. A new message arrives through the conversation. The client's
    /// position in the history doesn't change.
    private func answer(_ sent: ConversationStore.Sent) {
        guard let subscriber else { return }
        for entry in sent.entries where !entry.isNew {
            for message in entry.page.messages where subscriber.isPast(message) {
                // The message is in the page that is being sent, so it arrives in its order.
                guard !unsent.contains(where: { $0.contains(message) }) else { continue }
                transport.send(ConversationEvent.message(message, routingKey: entry.page.routingKey).content)
            }
        }
    }

    func send(_ batch: SubscriberMessages) {
        let contents = batch.form(make: ConversationContents.init)
        // The messages of a page that was read for this subscriber are sent at the peer's pace.
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

    /// Sends more messages of the page after the peer has received the earlier ones.
    ///
    /// - Returns: Whether no messages were left, so that everything is sent.
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

    func end(_ cause: ConversationTransportEnd) {
        // The whole connection has the same ticket. The connection ends itself and sends the reason.
        if case .expired = cause { return }
        transport.revoke()
    }

    // MARK: Presence in the extended protocol

    /// Whether presence is sent. A subscription to all conversations doesn't receive it.
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
