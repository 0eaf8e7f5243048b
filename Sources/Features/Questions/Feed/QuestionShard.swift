import Access
import Basics
import Domain
import FoundationEssentials
import Observability
import Rooms
import Sockets
import Wire

/// The subscribers of question sessions on one loop. A task that waits for the database keeps only a subscriber's
/// number, and finds the subscriber by it afterwards. Must be used on the loop.
package final class QuestionShard {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let subscriber: QuestionSubscriber
        let membership: SessionMembership
        let sender: Sender?
        let network: IPAddress?
        /// The timer for the end of the ticket.
        var expiry: TimerID?
    }

    private let reactor: Reactor
    private let loop: EventLoop
    let questions: Questions
    private var entries: [Number: Entry] = [:]
    private var subscriptions = SessionSubscriptions()
    private var lastNumber = 0

    init(on reactor: Reactor, loop: EventLoop, _ questions: Questions) {
        self.reactor = reactor
        self.loop = loop
        self.questions = questions
    }

    /// Returns whether a subscriber could enter the session now. A connection that already has a place there needs no
    /// second one.
    package func hasPlace(for member: QuestionMember, _ transport: any QuestionTransport) -> Bool {
        if let sender = transport.sender, subscriptions.count(of: sender, in: member.session) > 0 { return true }
        return questions.audience.refusal(of: member.session, from: transport.network) == nil
    }

    private func takePlace(for member: QuestionMember, _ transport: any QuestionTransport) -> Bool {
        if let sender = transport.sender, subscriptions.count(of: sender, in: member.session) > 0 {
            guard questions.audience.enterAgain(member.session) else { return false }
        } else {
            let refusal = questions.audience.enter(
                member.session, from: transport.network, isPresenter: member.holdsKey)
            guard refusal == nil else { return false }
        }
        if let sender = transport.sender { subscriptions.add(sender, to: member.session) }
        return true
    }

    /// Adds a subscriber and sends its handshake. If it is live, it receives the list. Returns `nil` if the session has
    /// no place for it.
    package func enter(_ member: QuestionMember, _ transport: any QuestionTransport) -> QuestionSubscriber? {
        guard takePlace(for: member, transport) else {
            questions.metrics.turnedAway.add()
            transport.end(.full)
            return nil
        }
        lastNumber += 1
        let subscriber = QuestionSubscriber(member, Number(number: lastNumber), transport, on: self)
        let membership = SessionMembership(of: subscriber, transport, in: questions, on: reactor)
        entries[subscriber.number] = Entry(
            subscriber: subscriber, membership: membership, sender: transport.sender, network: transport.network)
        transport.send(.handshake(member.id))
        // The list is read after the feed is open. Otherwise changes after the list wouldn't be published.
        Task(executorPreference: questions.executor) { [questions, loop, number = subscriber.number] in
            await questions.feeds.entered(member.session)
            loop.submit { questions.shard(on: $0, loop: loop).entries[number]?.subscriber.follow() }
        }
        awaitExpiry(of: subscriber)
        return subscriber
    }

    /// Closes the socket when its ticket expires.
    private func awaitExpiry(of subscriber: QuestionSubscriber) {
        guard let end = subscriber.member.expiry else { return }
        let left = end - questions.now()
        guard left > 0 else { return subscriber.end(.expired) }
        entries[subscriber.number]?.expiry = reactor.schedule(after: Ticket.wait(forExpiryIn: left)) {
            [weak self, number = subscriber.number] in
            guard let self, let subscriber = entries[number]?.subscriber else { return }
            awaitExpiry(of: subscriber)
        }
    }

    /// Removes the subscriber. Repeating it has no effect.
    package func leave(_ subscriber: QuestionSubscriber) {
        guard let entry = entries.removeValue(forKey: subscriber.number) else { return }
        entry.membership.leave(questions)
        if let expiry = entry.expiry { reactor.cancel(expiry) }
        let session = subscriber.member.session
        if let sender = entry.sender, !subscriptions.remove(sender, from: session) {
            return questions.audience.leaveAgain(session)
        }
        if questions.audience.leave(session, from: entry.network) {
            Task { [questions] in await questions.feeds.left(session) }
        }
    }

    /// Returns the number of subscribers on this loop that the option selects.
    func count(in session: UUID, _ option: WebSocketSendOption) -> Int {
        questions.rooms.shard(on: reactor).connections(of: questions.room(of: session))
            .count { ($0.peer as? QuestionSubscriber)?.isSelected(by: option) == true }
    }

    /// Ends the subscribers of an erased device.
    func end(_ device: DeviceID) {
        for entry in entries.values where entry.subscriber.member.device == device { entry.subscriber.end(.erased) }
    }

    func admitsQuestion(of member: QuestionMember, from network: IPAddress?) -> Bool {
        questions.questionRates.admits(member, from: network, at: reactor.now)
    }

    // MARK: Waiting for the database

    func perform(_ message: QuestionMessage, for subscriber: QuestionSubscriber) {
        let (number, member, requester) = (subscriber.number, subscriber.member, subscriber.requester)
        Task(executorPreference: questions.executor) { [questions, loop] in
            let events = await Requester.$current.withValue(requester) {
                await questions.responder.perform(message, for: member, erased: questions.end)
            }
            loop.submit { questions.shard(on: $0, loop: loop).entries[number]?.subscriber.done(events) }
        }
    }

    /// The pause before the list is read again after a failure.
    private static let retryDelay = Duration.milliseconds(500)

    func readPage(after last: UUID?, for subscriber: QuestionSubscriber) {
        let (number, member, requester) = (subscriber.number, subscriber.member, subscriber.requester)
        Task(executorPreference: questions.executor) { [questions, loop] in
            let page: Result<QuestionPage?, any Error>
            do {
                page = .success(
                    try await Requester.$current.withValue(requester) {
                        try await questions.feeds.page(
                            of: member.session, after: last, all: member.isPresenter, follows: true)
                    })
            } catch {
                page = .failure(error)
            }
            loop.submit { reactor in
                questions.shard(on: reactor, loop: loop).received(page, after: last, for: number)
            }
        }
    }

    private func received(_ page: Result<QuestionPage?, any Error>, after last: UUID?, for number: Number) {
        guard let subscriber = entries[number]?.subscriber else { return }
        switch page {
        case .success(let page?):
            if !subscriber.take(page) { readPage(after: last, for: subscriber) }
        // The session was deleted after it was opened.
        case .success(nil): subscriber.end(.gone)
        case .failure:
            reactor.schedule(after: Self.retryDelay) { [weak self] in
                guard let self, let subscriber = entries[number]?.subscriber else { return }
                readPage(after: last, for: subscriber)
            }
        }
    }
}
