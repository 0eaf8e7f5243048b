import Access
import Basics
import Domain
package import FoundationEssentials
import Messaging
package import Rooms
import Server
import Sockets

/// Those who hear conversations on one loop. What waits for the database holds a number, and finds its subscriber again by it. On the loop.
package final class ConversationShard {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Where a user's conversations are heard.
    struct Place {
        fileprivate let user: String
        fileprivate let connection: Connection
    }

    /// Of what can't be read, again a little later.
    private static let retryDelay = Duration.milliseconds(500)

    private let reactor: Reactor
    private let loop: EventLoop
    let conversations: Conversations
    private var subscribers: [Number: ConversationSubscriber] = [:]
    private var lastNumber = 0
    private var rechecks = ConversationRechecks<Number>()
    private var watches: [Number: ConversationWatch] = [:]

    init(on reactor: Reactor, loop: EventLoop, _ conversations: Conversations) {
        self.reactor = reactor
        self.loop = loop
        self.conversations = conversations
    }

    /// Lets somebody in, as the user that the device is, or was lately; `nil` if its ticket is over.
    ///
    /// - Parameters:
    ///   - after: Where it begins in some conversations.
    ///   - othersAreNew: In the others it begins at their beginning, and not with what is said now.
    package func enter(
        _ member: ConversationMember, user: String, after: [UUID: Int], othersAreNew: Bool = false,
        _ sink: any ConversationSink
    ) -> ConversationSubscriber? {
        let left = timeLeft(of: member)
        if let left, left <= 0 {
            sink.end(.expired)
            return nil
        }
        lastNumber += 1
        let subscriber = ConversationSubscriber(
            member, user: user, after: after, othersAreNew: othersAreNew, Number(number: lastNumber), sink, on: self)
        subscribers[subscriber.number] = subscriber
        subscribe(subscriber)
        readPositions(for: subscriber)
        if let left { awaitExpiry(of: subscriber, in: left) }
        return subscriber
    }

    /// Where its user hears its conversations.
    private func subscribe(_ subscriber: ConversationSubscriber) {
        if let place = subscriber.place { leave(place) }
        subscriber.place = place(of: subscriber, as: subscriber.user)
    }

    private func place(of peer: any RoomPeer, as user: String) -> Place {
        conversations.audience.enter(user)
        return Place(
            user: user,
            connection: conversations.rooms.subscribe(peer, to: conversations.room(of: user), on: reactor))
    }

    private func leave(_ place: Place) {
        conversations.audience.leave(place.user)
        conversations.rooms.unsubscribe(place.connection)
    }

    /// Of its ticket, in seconds; `nil` for ever.
    private func timeLeft(of member: ConversationMember) -> Double? {
        member.expiry.map { $0 - conversations.now() }
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
        if let place = subscriber.place { leave(place) }
        subscriber.place = nil
        subscriber.endPresence()
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

    // MARK: Who is there

    func makePresence(of user: Int, for subscriber: ConversationSubscriber, isTold: Bool) -> ConversationPresence {
        let number = subscriber.number
        return ConversationPresence(
            of: user, conversations, on: reactor,
            changed: isTold ? { [weak self] in self?.subscribers[number]?.tellPresence(in: $0) } : nil)
    }

    /// The names of users, in order; `nil` if they are yet to be read: then the subscriber tells its peer afterwards.
    func names(of users: [Int], for subscriber: ConversationSubscriber, in conversation: UUID) -> [String]? {
        if let names = conversations.users[users] { return names }
        let number = subscriber.number
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            // Away for a moment: who is there will change again.
            guard let names = try? await conversations.store.names(of: users) else { return }
            conversations.users.add(users, names)
            loop.submit { conversations.shard(on: $0, loop: loop).subscribers[number]?.tellPresence(in: conversation) }
        }
        return nil
    }

    // MARK: Who is told that something happens

    /// Tells somebody of what happens in a device's conversations, from the moment on in which it has a name.
    ///
    /// - Parameter tell: Called on this loop, until ``unwatch(_:)``.
    package func watch(_ member: ConversationMember, _ tell: @escaping (Publication) -> Void) -> ConversationWatch {
        lastNumber += 1
        let watch = ConversationWatch(member, Number(number: lastNumber), tell)
        watches[watch.number] = watch
        readName(for: watch.number, member.device)
        return watch
    }

    /// Does nothing the second time.
    package func unwatch(_ watch: ConversationWatch) {
        watches[watch.number] = nil
        if let place = watch.place { leave(place) }
        watch.place = nil
    }

    /// A device has a name now.
    func named(_ device: DeviceID, _ user: String) {
        for watch in watches.values where watch.member.device == device && watch.place == nil {
            watch.place = place(of: watch, as: user)
        }
    }

    private func readName(for number: Number, _ device: DeviceID) {
        Task(executorPreference: conversations.executor) { [conversations, loop] in
            let name: Result<String?, any Error>
            do { name = .success(try await conversations.store.name(of: device)) } catch { name = .failure(error) }
            loop.submit { conversations.shard(on: $0, loop: loop).found(name, for: number, device) }
        }
    }

    private func found(_ name: Result<String?, any Error>, for number: Number, _ device: DeviceID) {
        guard let watch = watches[number], watch.place == nil else { return }
        switch name {
        case .success(let user?): watch.place = place(of: watch, as: user)
        case .success(nil): break
        case .failure:
            reactor.schedule(after: Self.retryDelay) { [weak self] in self?.readName(for: number, device) }
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
