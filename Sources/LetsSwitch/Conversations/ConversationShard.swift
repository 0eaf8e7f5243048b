import Basics
import Domain
import FoundationEssentials
import Glibc
import Messaging
import Rooms
import Server
import Sockets

/// Those who hear conversations on one loop. What waits for the database holds a number, and finds its subscriber again by it. On the loop.
final class ConversationShard {
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
    /// Those who are to be asked where they stand, one after the other.
    private var rechecks: [Number] = []

    init(on reactor: Reactor, loop: EventLoop, _ conversations: Conversations) {
        self.reactor = reactor
        self.loop = loop
        self.conversations = conversations
    }

    /// Lets somebody in, as the user that the device is.
    func enter(
        _ member: ConversationMember, user: String, after: [UUID: Int], _ sink: any ConversationSink
    ) -> ConversationSubscriber {
        lastNumber += 1
        let subscriber = ConversationSubscriber(member, after: after, Number(number: lastNumber), sink, on: self)
        subscribers[subscriber.number] = subscriber
        conversations.listeners.withLock { $0 += 1 }
        subscriber.connection = conversations.rooms.subscribe(subscriber, to: conversations.room(of: user), on: reactor)
        readPositions(for: subscriber)
        awaitExpiry(of: subscriber)
        return subscriber
    }

    /// A ticket's end is its sockets'.
    private func awaitExpiry(of subscriber: ConversationSubscriber) {
        guard let end = subscriber.member.expiry else { return }
        let left = end - Double(time(nil))
        guard left > 0 else { return subscriber.end(.expired) }
        subscriber.expiry = reactor.schedule(after: Ticket.wait(forExpiryIn: left)) {
            [weak self, number = subscriber.number] in
            guard let self, let subscriber = subscribers[number] else { return }
            awaitExpiry(of: subscriber)
        }
    }

    /// Does nothing the second time.
    func leave(_ subscriber: ConversationSubscriber) {
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
        let isIdle = rechecks.isEmpty
        rechecks = Array(subscribers.keys)
        if isIdle { recheck() }
    }

    private func recheck() {
        while let number = rechecks.last {
            if let subscriber = subscribers[number] { return readPositions(for: subscriber) }
            rechecks.removeLast()
        }
    }

    func pays(_ device: DeviceID, at now: MonotonicTime) -> Bool { conversations.rates.pays(device, at: now) }

    // MARK: What waits for the database

    func perform(_ command: ConversationCommand, for subscriber: ConversationSubscriber) {
        let (number, member) = (subscriber.number, subscriber.member)
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let event = await conversations.perform(command, for: member)
            loop.submit { conversations.shard(on: $0, loop: loop).subscribers[number]?.done(event) }
        }
    }

    func readPositions(for subscriber: ConversationSubscriber) {
        let (number, device) = (subscriber.number, subscriber.member.device)
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let result: Result<ConversationPositions, any Error>
            do {
                result = .success(try await conversations.store.positions(of: device))
            } catch {
                result = .failure(error)
            }
            loop.submit { conversations.shard(on: $0, loop: loop).received(result, for: number) }
        }
    }

    private func received(_ result: Result<ConversationPositions, any Error>, for number: Number) {
        if rechecks.last == number, (try? result.get()) != nil || subscribers[number] == nil {
            rechecks.removeLast()
            recheck()
        }
        guard let subscriber = subscribers[number] else { return }
        switch result {
        case .success(let positions): subscriber.opened(positions)
        // It has no name any more.
        case .failure(is RequestError): subscriber.end(.erased)
        case .failure:
            retry(number) { $0.readPositions(for: $1) }
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
