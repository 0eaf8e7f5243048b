import Access
import Domain
package import FoundationEssentials
import Sockets

/// The subscribers of conversations on one loop. A task that waits for the database keeps only a subscriber's number,
/// and finds the subscriber by it afterwards. Must be used on the loop.
package final class ConversationShard {
    struct Number: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let subscriber: ConversationSubscriber
        /// The subscriber's connection to its user's room.
        var membership: ConversationMembership
        /// The timer for the end of the ticket.
        var expiry: TimerID?
    }

    /// The pause before a failed read is tried again.
    static let retryDelay = Duration.milliseconds(500)

    let reactor: Reactor
    private let loop: EventLoop
    let conversations: Conversations
    /// The subscribers that receive hints only.
    package let watches: ConversationWatches
    private var entries: [Number: Entry] = [:]
    private var lastNumber = 0
    private var rechecks = ConversationRechecks<Number>()

    init(on reactor: Reactor, loop: EventLoop, _ conversations: Conversations) {
        self.reactor = reactor
        self.loop = loop
        self.conversations = conversations
        watches = ConversationWatches(on: reactor, loop: loop, conversations)
    }

    /// Adds a subscriber. Returns `nil` if its ticket has expired.
    ///
    /// - Parameters:
    ///   - user: The device's user name, as far as it is known.
    ///   - after: The offsets from which to start in some conversations.
    ///   - othersAreNew: Whether the other conversations start at their beginning instead of now.
    package func enter(
        _ member: ConversationMember, user: String, after: [UUID: Int], othersAreNew: Bool = false,
        _ transport: any ConversationTransport
    ) -> ConversationSubscriber? {
        let left = timeLeft(of: member)
        if let left, left <= 0 {
            transport.end(.expired)
            return nil
        }
        lastNumber += 1
        let subscriber = ConversationSubscriber(
            member, user: user, after: after, othersAreNew: othersAreNew, Number(number: lastNumber), transport,
            on: self)
        entries[subscriber.number] = Entry(subscriber: subscriber, membership: makeMembership(of: subscriber))
        readPositions(for: subscriber)
        if let left { awaitExpiry(of: subscriber, in: left) }
        return subscriber
    }

    private func makeMembership(of subscriber: ConversationSubscriber) -> ConversationMembership {
        ConversationMembership(of: subscriber, as: subscriber.user, in: conversations, on: reactor)
    }

    /// Returns the time in seconds until the member's ticket expires. Returns `nil` without a ticket.
    private func timeLeft(of member: ConversationMember) -> Double? {
        member.expiry.map { $0 - conversations.now() }
    }

    /// Closes the socket when its ticket expires.
    private func awaitExpiry(of subscriber: ConversationSubscriber, in left: Double) {
        entries[subscriber.number]?.expiry = reactor.schedule(after: Ticket.wait(forExpiryIn: left)) {
            [weak self, number = subscriber.number] in
            guard let self, let subscriber = entries[number]?.subscriber,
                let left = timeLeft(of: subscriber.member)
            else { return }
            guard left > 0 else { return subscriber.end(.expired) }
            awaitExpiry(of: subscriber, in: left)
        }
    }

    /// Removes the subscriber. Repeating it has no effect.
    package func leave(_ subscriber: ConversationSubscriber) {
        guard let entry = entries.removeValue(forKey: subscriber.number) else { return }
        entry.membership.leave(conversations)
        subscriber.endPresence()
        if let expiry = entry.expiry { reactor.cancel(expiry) }
    }

    /// Ends the subscribers of an erased device.
    func end(_ device: DeviceID) {
        for entry in entries.values where entry.subscriber.member.device == device { entry.subscriber.end(.erased) }
    }

    /// Reads the positions of all subscribers again, because publications may have been missed.
    func resynchronise() {
        if rechecks.begin(entries.keys) { recheck() }
    }

    private func recheck() {
        while let number = rechecks.next() {
            if let subscriber = entries[number]?.subscriber { return readPositions(for: subscriber, isRecheck: true) }
        }
    }

    // MARK: Waiting for the database

    func perform(_ command: ConversationCommand, for subscriber: ConversationSubscriber) {
        let (number, member) = (subscriber.number, subscriber.member)
        conversations.ask(on: loop, for: subscriber.transport.requester) {
            await $0.responder.perform(command, for: member)
        } then: { shard, answer in
            if case .success(let event) = answer { shard.entries[number]?.subscriber.done(event) }
        }
    }

    /// Returns the names of users in order. Returns `nil` if they must be read first. The subscriber then reports
    /// presence after reading.
    func names(of users: [Int], for subscriber: ConversationSubscriber, in conversation: UUID) -> [String]? {
        if let names = conversations.users[users] { return names }
        let number = subscriber.number
        conversations.ask(on: loop, for: subscriber.transport.requester) {
            $0.users.add(users, try await $0.store.names(of: users))
        } then: { shard, answer in
            // If the database is unavailable, the next change of presence tries again.
            guard case .success = answer else { return }
            shard.entries[number]?.subscriber.sendPresence(in: conversation)
        }
        return nil
    }

    func readPositions(for subscriber: ConversationSubscriber, isRecheck: Bool = false) {
        let (number, device) = (subscriber.number, subscriber.member.device)
        conversations.ask(on: loop, for: subscriber.transport.requester) {
            try await $0.store.positions(of: device)
        } then: { shard, answer in
            let subscriber = shard.entries[number]?.subscriber
            switch answer {
            case .success(let positions):
                if let subscriber, case .otherUser = subscriber.opened(positions) { shard.move(subscriber) }
            // The device has no name any more.
            case .failure(is RequestError):
                if let subscriber {
                    shard.conversations.names[device] = nil
                    subscriber.end(.erased)
                }
            case .failure: return shard.readPositionsAgain(for: number, isRecheck: isRecheck)
            }
            // The next subscriber is checked, whatever the result.
            if isRecheck { shard.recheck() }
        }
    }

    private func readPositionsAgain(for number: Number, isRecheck: Bool) {
        reactor.schedule(after: Self.retryDelay) { [weak self] in
            guard let self else { return }
            if let subscriber = entries[number]?.subscriber {
                readPositions(for: subscriber, isRecheck: isRecheck)
            } else if isRecheck {
                recheck()
            }
        }
    }

    /// Moves the subscriber to the room of another user.
    private func move(_ subscriber: ConversationSubscriber) {
        conversations.names[subscriber.member.device] = subscriber.user
        entries[subscriber.number]?.membership.leave(conversations)
        let membership = makeMembership(of: subscriber)
        entries[subscriber.number]?.membership = membership
        // Messages to the other user's room were missed, so the positions are read again.
        readPositions(for: subscriber)
    }

    func readPage(of conversation: UUID, after offset: Int, for subscriber: ConversationSubscriber) {
        let (number, device) = (subscriber.number, subscriber.member.device)
        conversations.ask(on: loop, for: subscriber.transport.requester) {
            try await $0.store.messages(in: conversation, .after(offset), for: device)
        } then: { shard, answer in
            switch answer {
            case .success(let page): shard.entries[number]?.subscriber.take(page, of: conversation)
            // The device no longer takes part in the conversation.
            case .failure(is RequestError): shard.entries[number]?.subscriber.take(nil, of: conversation)
            case .failure:
                shard.reactor.schedule(after: Self.retryDelay) { [weak shard] in
                    guard let shard, let subscriber = shard.entries[number]?.subscriber else { return }
                    shard.readPage(of: conversation, after: offset, for: subscriber)
                }
            }
        }
    }
}
