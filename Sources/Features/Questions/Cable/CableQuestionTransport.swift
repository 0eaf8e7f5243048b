import Access
import ActionCable
import Basics
import Domain
import Rooms
import Wire

/// Sends the events of a question session to a subscription.
final class CableQuestionTransport: QuestionTransport {
    private unowned let transport: SubscriptionTransport
    let wantsPresence: Bool
    /// The encoded pages of the list and changes that weren't sent yet. They wait because other subscriptions of the
    /// connection may send much at the same time.
    private var waiting: ArraySlice<SharedContents> = []

    init(_ transport: SubscriptionTransport, wantsPresence: Bool) {
        self.transport = transport
        self.wantsPresence = wantsPresence
    }

    var sender: Sender? { transport.sender }
    var network: IPAddress? { transport.limitedNetwork }
    var requester: Requester? { transport.requester }
    func admitsMessage() -> Bool { transport.admits(messages: 1) }

    func send(_ event: QuestionEvent) {
        switch event {
        case .questions, .session: queue(SharedContents([event.content]))
        default: transport.send(event.content)
        }
    }

    func send(presence count: Int, _ shared: Publication) {
        transport.send(shared.form { SharedContents([QuestionEvent.presence(count).content]) })
    }

    func send(_ published: PublishedQuestions, forPresenter: Bool) {
        queue(AudienceContents.shared(published).changes)
    }

    func send(announcement index: Int, of published: PublishedQuestions) {
        transport.send(AudienceContents.shared(published).announcements[index])
    }

    // MARK: Waiting contents

    /// Queues encoded events. They are sent when ``SubscriptionTransport/hasRoom`` is `true` and all earlier ones are
    /// sent. Disconnects the peer if ``CableLimits/waitingPublications`` contents already wait.
    private func queue(_ contents: SharedContents) {
        guard waiting.count < CableLimits.waitingPublications else { return transport.cutOff() }
        waiting.append(contents)
        sendWaiting()
    }

    private func sendWaiting() {
        while transport.hasRoom, let contents = waiting.popFirst() { transport.send(contents) }
        if !waiting.isEmpty { transport.reportsDrain = true }
    }

    /// Sends waiting contents after the peer has received the earlier ones.
    ///
    /// - Returns: Whether nothing was waiting, so that everything is sent.
    func sendsAll() -> Bool {
        guard waiting.isEmpty else {
            sendWaiting()
            return false
        }
        transport.reportsDrain = false
        return true
    }

    func reportDrain() { transport.reportsDrain = true }
    func awaitTurn() { transport.awaitTurn() }
    func endTurn() { transport.endTurn() }

    func end(_ code: QuestionSubscriber.End) {
        // The whole connection has the same ticket. The connection ends itself and sends the reason.
        if case .expired = code { return }
        transport.revoke()
    }
}

/// A publication's contents for the audience, encoded once for all Action Cable connections of a loop.
private final class AudienceContents {
    let changes: SharedContents
    /// One content per announcement, because not every subscriber receives every announcement.
    let announcements: [SharedContents]

    static func shared(_ published: PublishedQuestions) -> AudienceContents {
        published.shared.form { AudienceContents(published.publication) }
    }

    private init(_ publication: QuestionPublication) {
        changes = SharedContents(publication.events(forPresenter: false).map(\.content))
        announcements = publication.changes.announcements.map {
            SharedContents([QuestionEvent.announcement($0.content).content])
        }
    }
}

extension QuestionEvent {
    fileprivate var content: CableContent {
        CableContent(type) { data in writeMembers(to: &data) }
    }
}
