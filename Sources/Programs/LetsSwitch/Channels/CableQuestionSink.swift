import Access
import ActionCable
import LiveQuestions
import Messaging
import Rooms
import Wire

/// What a subscription to a session is told.
final class CableQuestionSink: QuestionSink {
    private unowned let outlet: SubscriptionOutlet
    let wantsPresence: Bool
    /// Of the list and of what changes, what the peer has yet to be sent: others of its subscriptions may have much to say at the same time.
    private var waiting: ArraySlice<SharedContents> = []

    init(_ outlet: SubscriptionOutlet, wantsPresence: Bool) {
        self.outlet = outlet
        self.wantsPresence = wantsPresence
    }

    var sender: Sender? { outlet.sender }
    func admitsMessage() -> Bool { outlet.admits(messages: 1) }

    func send(_ event: QuestionEvent) {
        switch event {
        case .questions, .session: queue(SharedContents([event.content]))
        default: outlet.send(event.content)
        }
    }

    func send(presence count: Int, _ shared: Publication) {
        outlet.send(shared.form { SharedContents([QuestionEvent.presence(count).content]) })
    }

    func send(_ published: PublishedQuestions, forPresenter: Bool) {
        queue(AudienceContents.shared(published).changes)
    }

    func send(announcement index: Int, of published: PublishedQuestions) {
        outlet.send(AudienceContents.shared(published).announcements[index])
    }

    // MARK: What waits

    /// It leaves in its turn, once the peer has taken enough of what was sent before. Whoever takes nothing for seconds doesn't read.
    private func queue(_ contents: SharedContents) {
        guard waiting.count < CableLimits.waitingPublications else { return outlet.cutOff() }
        waiting.append(contents)
        sendWaiting()
    }

    private func sendWaiting() {
        while outlet.hasRoom, let contents = waiting.popFirst() { outlet.send(contents) }
        if !waiting.isEmpty { outlet.reportsDrain = true }
    }

    /// The peer has taken what it was sent.
    ///
    /// - Returns: Whether that was all. If not, more of what waits is sent now.
    func sendsAll() -> Bool {
        guard waiting.isEmpty else {
            sendWaiting()
            return false
        }
        outlet.reportsDrain = false
        return true
    }

    func reportDrain() { outlet.reportsDrain = true }
    func awaitTurn() { outlet.awaitTurn() }
    func endTurn() { outlet.endTurn() }

    func end(_ code: QuestionSubscriber.End) {
        // The connection has the same ticket: it ends by itself, and says why.
        if case .expired = code { return }
        outlet.revoke()
    }
}

/// What the audience is told of changes, made once for all cables of a loop.
private final class AudienceContents {
    let changes: SharedContents
    /// One for each: not everybody gets all of them.
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
