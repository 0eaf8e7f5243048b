import Access
import Basics
import Domain
import FoundationEssentials
import Messaging
import Observability
import Rooms
import Server
import Sockets

/// Those in sessions of questions on one loop. What waits for the database holds a number, and finds its subscriber again by it. On the
/// loop.
package final class QuestionShard {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    private let reactor: Reactor
    private let loop: EventLoop
    let questions: Questions
    private var subscribers: [Number: QuestionSubscriber] = [:]
    private var lastNumber = 0

    init(on reactor: Reactor, loop: EventLoop, _ questions: Questions) {
        self.reactor = reactor
        self.loop = loop
        self.questions = questions
    }

    /// Lets somebody in, greets it, and begins the list if it follows the session; `nil` if the session is full.
    package func enter(_ member: QuestionMember, _ sink: any QuestionSink) -> QuestionSubscriber? {
        guard questions.audience.enter(member.session) else {
            questions.metrics.turnedAway.add()
            sink.end(.full)
            return nil
        }
        lastNumber += 1
        let subscriber = QuestionSubscriber(member, Number(number: lastNumber), sink, on: self)
        subscribers[subscriber.number] = subscriber
        subscriber.connection = questions.rooms.subscribe(
            subscriber, to: questions.room(of: member.session), on: reactor)
        sink.send(.handshake(member.id))
        enterHall(subscriber, sink)
        // What changes after the list was read is told only where the session is followed by then.
        Task(executorPreference: questions.executor) { [questions, loop, number = subscriber.number] in
            await questions.feeds.entered(member.session)
            loop.submit { questions.shard(on: $0, loop: loop).subscribers[number]?.follow() }
        }
        awaitExpiry(of: subscriber)
        return subscriber
    }

    /// Everybody counts, and who follows the session is told how many they are.
    private func enterHall(_ subscriber: QuestionSubscriber, _ sink: any QuestionSink) {
        let member = subscriber.member
        let sender = sink.sender ?? questions.rooms.shard(on: reactor).makeSender()
        let place = sender.enter(
            questions.hall(of: member.session), subscriber, policy: .hall,
            claimedIdentity: member.device == nil ? nil : member.id
        ) { _ in }
        subscriber.place = place
        if member.isLive, sink.wantsPresence { place.watchPresence() }
    }

    /// A ticket's end is its sockets'.
    private func awaitExpiry(of subscriber: QuestionSubscriber) {
        guard let end = subscriber.member.expiry else { return }
        let left = end - questions.now()
        guard left > 0 else { return subscriber.end(.expired) }
        subscriber.expiry = reactor.schedule(after: Ticket.wait(forExpiryIn: left)) {
            [weak self, number = subscriber.number] in
            guard let self, let subscriber = subscribers[number] else { return }
            awaitExpiry(of: subscriber)
        }
    }

    /// Does nothing the second time.
    package func leave(_ subscriber: QuestionSubscriber) {
        guard subscribers.removeValue(forKey: subscriber.number) != nil else { return }
        if let connection = subscriber.connection { questions.rooms.unsubscribe(connection) }
        subscriber.connection = nil
        subscriber.place?.leave()
        subscriber.place = nil
        if let expiry = subscriber.expiry { reactor.cancel(expiry) }
        let session = subscriber.member.session
        if questions.audience.leave(session) {
            Task { [questions] in await questions.feeds.left(session) }
        }
    }

    /// Of those on this loop, in a session.
    func count(in session: UUID, _ option: WebSocketSendOption) -> Int {
        questions.rooms.shard(on: reactor).connections(of: questions.room(of: session))
            .count { ($0.peer as? QuestionSubscriber)?.isSelected(by: option) == true }
    }

    /// The device was erased.
    func end(_ device: DeviceID) {
        for subscriber in subscribers.values where subscriber.member.device == device { subscriber.end(.erased) }
    }

    // MARK: What waits for the database

    func perform(_ message: QuestionMessage, for subscriber: QuestionSubscriber) {
        let (number, member) = (subscriber.number, subscriber.member)
        Task(executorPreference: questions.executor) { [questions, loop] in
            let events = await questions.perform(message, for: member)
            loop.submit { questions.shard(on: $0, loop: loop).subscribers[number]?.done(events) }
        }
    }

    /// Of a list that can't be read, or was overtaken, again a little later.
    private static let retryDelay = Duration.milliseconds(500)

    func readPage(after last: UUID?, for subscriber: QuestionSubscriber) {
        let (number, member) = (subscriber.number, subscriber.member)
        Task(executorPreference: questions.executor) { [questions, loop] in
            let page: Result<QuestionPage?, any Error>
            do {
                page = .success(
                    try await questions.feeds.page(
                        of: member.session, after: last, all: member.isPresenter, follows: true))
            } catch {
                page = .failure(error)
            }
            loop.submit { reactor in
                questions.shard(on: reactor, loop: loop).received(page, after: last, for: number)
            }
        }
    }

    private func received(_ page: Result<QuestionPage?, any Error>, after last: UUID?, for number: Number) {
        guard let subscriber = subscribers[number] else { return }
        switch page {
        case .success(let page?):
            if !subscriber.take(page) { readPage(after: last, for: subscriber) }
        // It was deleted since it was opened.
        case .success(nil): subscriber.end(.gone)
        case .failure:
            reactor.schedule(after: Self.retryDelay) { [weak self] in
                guard let self, let subscriber = subscribers[number] else { return }
                readPage(after: last, for: subscriber)
            }
        }
    }
}
