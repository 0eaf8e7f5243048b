import Access
import Basics
import Domain
package import FoundationEssentials
import Glibc
import Messaging
import Rooms
import Server
import Sockets

/// Those who hear conversations on one loop. What waits for the database holds a number, and finds its subscriber again by it. On the loop.
package final class ConversationShard {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Of what can't be read, again a little later.
    private static let retryDelay = Duration.milliseconds(500)

    private let reactor: Reactor
    private let loop: EventLoop
    private let conversations: Conversations
    private var subscribers: [Number: ConversationSubscriber] = [:]
    private var lastNumber = 0
    private var rechecks = ConversationRechecks<Number>()

    init(on reactor: Reactor, loop: EventLoop, _ conversations: Conversations) {
        self.reactor = reactor
        self.loop = loop
        self.conversations = conversations
    }

    /// Lets somebody in, as the user that the device is, or was lately; `nil` if its ticket is over.
    package func enter(
        _ member: ConversationMember, user: String, after: [UUID: Int], _ sink: any ConversationSink
    ) -> ConversationSubscriber? {
        let left = timeLeft(of: member)
        if let left, left <= 0 {
            sink.end(.expired)
            return nil
        }
        lastNumber += 1
        let subscriber = ConversationSubscriber(
            member, user: user, after: after, Number(number: lastNumber), sink, on: self)
        subscribers[subscriber.number] = subscriber
        conversations.listeners.withLock { $0 += 1 }
        subscribe(subscriber)
        readPositions(for: subscriber)
        if let left { awaitExpiry(of: subscriber, in: left) }
        return subscriber
    }

    /// Where its user hears its conversations.
    private func subscribe(_ subscriber: ConversationSubscriber) {
        if let connection = subscriber.connection { conversations.rooms.unsubscribe(connection) }
        subscriber.connection = conversations.rooms.subscribe(
            subscriber, to: conversations.room(of: subscriber.user), on: reactor)
    }

    /// Of its ticket, in seconds; `nil` for ever.
    private func timeLeft(of member: ConversationMember) -> Double? {
        member.expiry.map { $0 - Double(time(nil)) }
    }

    /// A ticket's end is its sockets'.
    private func awaitExpiry(of subscriber: ConversationSubscriber, in left: Double) {
        subscriber.expiry = reactor.schedule(after: Ticket.wait(forExpiryIn: left)) {
            [weak self, number = subscriber.number] in
            guard let self, let subscriber = subscribers[number], let left = timeLeft(of: subscriber.member)
            else { return }
            guard left > 0 else { return subscriber.end(.expired) }
            awaitExpiry(of: subscriber, in: left)
        }
    }

    /// Does nothing the second time.
    package func leave(_ subscriber: ConversationSubscriber) {
        guard subscribers.removeValue(forKey: subscriber.number) != nil else { return }
        conversations.listeners.withLock { $0 -= 1 }
        if let connection = subscriber.connection { conversations.rooms.unsubscribe(connection) }
        subscriber.connection = nil
        if let expiry = subscriber.expiry { reactor.cancel(expiry) }
    }

    /// The device was erased.
    func end(_ device: DeviceID) {
        for subscriber in subscribers.values where subscriber.member.device == device { subscriber.end(.erased) }
    }

    /// Publications may have been missed: everybody is asked where it stands.
    func resynchronise() {
        if rechecks.begin(subscribers.keys) { recheck() }
    }

    private func recheck() {
        while let number = rechecks.next() {
            if let subscriber = subscribers[number] { return readPositions(for: subscriber, isRecheck: true) }
        }
    }

    // MARK: What waits for the database

    func perform(_ command: ConversationCommand, for subscriber: ConversationSubscriber) {
        let (number, member) = (subscriber.number, subscriber.member)
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let event = await conversations.perform(command, for: member)
            loop.submit { conversations.shard(on: $0, loop: loop).subscribers[number]?.done(event) }
        }
    }

    func readPositions(for subscriber: ConversationSubscriber, isRecheck: Bool = false) {
        let (number, device) = (subscriber.number, subscriber.member.device)
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let result: Result<ConversationPositions, any Error>
            do {
                result = .success(try await conversations.store.positions(of: device))
            } catch {
                result = .failure(error)
            }
            loop.submit { conversations.shard(on: $0, loop: loop).received(result, for: number, isRecheck) }
        }
    }

    private func received(
        _ result: Result<ConversationPositions, any Error>, for number: Number, _ isRecheck: Bool
    ) {
        switch result {
        case .success(let positions):
            if let subscriber = subscribers[number] { opened(subscriber, positions) }
        // It has no name any more.
        case .failure(is RequestError):
            if let subscriber = subscribers[number] {
                conversations.names[subscriber.member.device] = nil
                subscriber.end(.erased)
            }
        case .failure:
            reactor.schedule(after: Self.retryDelay) { [weak self] in
                guard let self else { return }
                if let subscriber = subscribers[number] {
                    readPositions(for: subscriber, isRecheck: isRecheck)
                } else if isRecheck {
                    recheck()
                }
            }
            return
        }
        // Whatever came of this one, the others are asked as well.
        if isRecheck { recheck() }
    }

    private func opened(_ subscriber: ConversationSubscriber, _ positions: ConversationPositions) {
        switch subscriber.opened(positions) {
        case .opened: break
        case .otherUser:
            conversations.names[subscriber.member.device] = positions.user
            subscribe(subscriber)
            // What was said before that went by.
            readPositions(for: subscriber)
        }
    }

    func readPage(of conversation: UUID, after offset: Int, for subscriber: ConversationSubscriber) {
        let (number, device) = (subscriber.number, subscriber.member.device)
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let result: Result<ConversationPage?, any Error>
            do {
                result = .success(
                    try await conversations.store.messages(in: conversation, .after(offset), for: device))
            } catch is RequestError {
                result = .success(nil)
            } catch {
                result = .failure(error)
            }
            loop.submit {
                let shard = conversations.shard(on: $0, loop: loop)
                switch result {
                case .success(let page): shard.subscribers[number]?.take(page, of: conversation)
                case .failure: shard.retry(number) { $0.readPage(of: conversation, after: offset, for: $1) }
                }
            }
        }
    }

    private func retry(_ number: Number, _ body: @escaping (ConversationShard, ConversationSubscriber) -> Void) {
        reactor.schedule(after: Self.retryDelay) { [weak self] in
            guard let self, let subscriber = subscribers[number] else { return }
            body(self, subscriber)
        }
    }
}
