import ActionCable
import Domain
import FoundationEssentials
import Observability
import Wire

/// A subscription to a question session.
///
/// ```
/// opening (commands wait) ──confirmed──► inside ──► over
///     └──────────────────────────────────────────────────▲
/// ```
final class QuestionsSubscription: CableSubscription {
    private let member: QuestionMember
    private let questions: Questions
    private unowned let transport: SubscriptionTransport
    /// Sends the session's events to the subscription.
    private let output: CableQuestionTransport
    private var state = State.opening([])

    private enum State {
        case opening([QuestionMessage])
        case inside(QuestionSubscriber)
        case over
    }

    init(_ member: QuestionMember, wantsPresence: Bool, _ questions: Questions, by transport: SubscriptionTransport) {
        self.member = member
        self.questions = questions
        self.transport = transport
        output = CableQuestionTransport(transport, wantsPresence: wantsPresence)
    }

    private var shard: QuestionShard { questions.shard(on: transport.reactor, loop: transport.loop) }

    // MARK: Entering and leaving

    func open() {
        transport.run { [questions, session = member.session] in
            try await questions.feeds.open(session)
        } then: { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .success(_?) where shard.hasPlace(for: member, output): enter()
            case .success(_?):
                questions.metrics.turnedAway.add()
                transport.reject()
            case .success(nil): transport.reject()
            // While the database is unavailable, the client waits as on a slow network.
            case .failure: transport.retry { [weak self] in self?.open() }
            }
        }
    }

    private func enter() {
        // Confirming performs commands that arrived earlier. These commands may end the subscription.
        transport.confirm()
        guard case .opening = state else { return }
        guard let subscriber = shard.enter(member, output) else { return }
        guard case .opening(let commands) = state else { return shard.leave(subscriber) }
        state = .inside(subscriber)
        for message in commands { subscriber.received(message) }
    }

    func end() {
        let last = state
        state = .over
        guard case .inside(let subscriber) = last else { return }
        shard.leave(subscriber)
    }

    // MARK: Actions of the client

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
        case .opening(let commands): state = .opening(commands + [message])
        case .inside(let subscriber): subscriber.received(message)
        case .over: break
        }
    }

    // MARK: Calls to the subscriber

    func hasTurn() {
        if case .inside(let subscriber) = state { subscriber.hasTurn() }
    }

    func allSent() {
        guard output.sendsAll() else { return }
        if case .inside(let subscriber) = state { subscriber.drained() }
    }
}
