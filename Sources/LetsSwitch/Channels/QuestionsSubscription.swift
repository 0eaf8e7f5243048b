import Access
import ActionCable
import Domain
import FoundationEssentials
import LiveQuestions
import Messaging
import Observability
import Rooms
import Sockets
import Wire

/// A place in a session.
///
/// ```
/// opening (what is said waits) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
final class QuestionsSubscription: CableSubscription, QuestionSink {
    private let member: QuestionMember
    let wantsPresence: Bool
    private let questions: Questions
    private unowned let outlet: SubscriptionOutlet
    private var state = State.opening([])
    /// Of the list and of what changes, what the peer has yet to be sent: others of its subscriptions may have much to say at the same time.
    private var waiting: ArraySlice<SharedContents> = []

    private enum State {
        case opening([QuestionMessage])
        case inside(QuestionSubscriber)
        case over
    }

    init(_ member: QuestionMember, wantsPresence: Bool, _ questions: Questions, by outlet: SubscriptionOutlet) {
        self.member = member
        self.wantsPresence = wantsPresence
        self.questions = questions
        self.outlet = outlet
    }

    // MARK: Coming and going

    func open() {
        outlet.run { [questions, session = member.session] in
            try await questions.feeds.open(session)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(_?) where !questions.audience.isFull(member.session): enter()
            case .success(_?):
                questions.metrics.turnedAway.add()
                outlet.reject()
            case .success(nil): outlet.reject()
            // The database is away: the client waits, as it would for a slow network.
            case .failure: outlet.call(after: CableLimits.retryPause) { [weak self] in self?.open() }
            }
        }
    }

    private func enter() {
        // Does what has waited: something is said, or this is over.
        outlet.confirm()
        guard case .opening = state else { return }
        let shard = questions.shard(on: outlet.reactor, loop: outlet.loop)
        guard let subscriber = shard.enter(member, self) else { return }
        guard case .opening(let said) = state else { return shard.leave(subscriber) }
        state = .inside(subscriber)
        for message in said { subscriber.received(message) }
    }

    func end() {
        let last = state
        state = .over
        guard case .inside(let subscriber) = last else { return }
        questions.shard(on: outlet.reactor, loop: outlet.loop).leave(subscriber)
    }

    // MARK: What is said

    func perform(_ action: CableAction) throws(CableActionError) {
        let question = action.members.text("questionId").flatMap(UUID.init(text:))
        let message: QuestionMessage
        if action.isNamed("ask") {
            message = .ask(id: member.id, content: action.members.text("content"))
        } else if action.isNamed("vote") {
            message = .vote(question: question, isFor: true)
        } else if action.isNamed("unvote") {
            message = .vote(question: question, isFor: false)
        } else {
            throw .unknownAction
        }
        switch state {
        case .opening(let said): state = .opening(said + [message])
        case .inside(let subscriber): subscriber.received(message)
        case .over: break
        }
    }

    func admitsMessage() -> Bool { outlet.admits(messages: 1) }

    // MARK: What it is told

    var sender: Sender? { outlet.sender }

    func send(_ event: QuestionEvent) {
        switch event {
        case .questions, .session: queue(SharedContents([event.content]))
        default: outlet.send(event.content)
        }
    }

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

    func send(presence count: Int, _ shared: Publication) {
        outlet.send(shared.form { SharedContents([QuestionEvent.presence(count).content]) })
    }

    func send(_ published: PublishedQuestions, forPresenter: Bool) {
        queue(AudienceContents.shared(published).changes)
    }

    func send(announcement index: Int, of published: PublishedQuestions) {
        outlet.send(AudienceContents.shared(published).announcements[index])
    }

    func reportDrain() { outlet.reportsDrain = true }
    func awaitTurn() { outlet.awaitTurn() }
    func endTurn() { outlet.endTurn() }

    func hasTurn() {
        if case .inside(let subscriber) = state { subscriber.hasTurn() }
    }

    func allSent() {
        guard waiting.isEmpty else { return sendWaiting() }
        outlet.reportsDrain = false
        if case .inside(let subscriber) = state { subscriber.drained() }
    }

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

extension JSONObject {
    func text(_ name: StaticString) -> String? {
        string(name).map { String(decoding: $0, as: UTF8.self) }
    }
}
