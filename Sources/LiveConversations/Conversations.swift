package import Access
import Basics
package import Domain
import FoundationEssentials
package import Messaging
package import Observability
package import Rooms
import Server
package import Sockets

/// All conversations, as this daemon has to do with them. May be used from anywhere.
package final class Conversations: Sendable {
    package let store: ConversationStore
    let rooms: Rooms
    package let feeds: ConversationFeeds
    package let changes: ConversationChanges
    /// Those who hear conversations, on all loops.
    package let audience: ConversationListeners
    let names = UserNames()
    /// By number.
    let users = KnownUsers()
    /// What devices may say, on whatever sockets and by requests.
    let rates: DeviceMessageRates
    let metrics: ConversationMetrics
    /// For tasks that do little but wait for the database.
    let executor: any TaskExecutor
    /// Seconds since 1970, by which tickets expire.
    let now: @Sendable () -> Double
    private let loops: [EventLoop]
    private let keys: RoomKeys
    private let log: Log
    private let shardKey = LoopLocal<ConversationShard>()

    package init(
        store: ConversationStore, rooms: Rooms, keys: RoomKeys, loops: [EventLoop], executor: any TaskExecutor,
        rates: DeviceMessageRates, metrics: ConversationMetrics, log: Log, now: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.store = store
        self.rooms = rooms
        self.keys = keys
        self.loops = loops
        self.executor = executor
        self.metrics = metrics
        self.log = log
        self.rates = rates
        let audience = ConversationListeners()
        self.audience = audience
        feeds = ConversationFeeds(store: store, log: log, audience: audience) { page in
            let publication = ConversationPublication(page: page)
            rooms.publish(page.routingKey.split(separator: ".").map { (publication, Self.room(of: $0, keys)) })
        }
        changes = ConversationChanges(store: store, log: log, audience: audience) { change, users in
            rooms.publish(users.map { (change, Self.room(of: $0, keys)) })
        }
    }

    /// Those on a loop. On that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> ConversationShard {
        shardKey.value(on: reactor) { ConversationShard(on: reactor, loop: loop, self) }
    }

    /// Where a user hears its conversations: what goes by the binding `#.<user>.#`, since each word of a routing key is a user.
    func room(of user: String) -> UUID { Self.room(of: user[...], keys) }

    /// Where those are who have a conversation.
    func company(of conversation: UUID) -> UUID {
        keys.room(.company, withUnsafeBytes(of: conversation.uuid) { Array($0) })
    }

    private static func room(of user: Substring, _ keys: RoomKeys) -> UUID {
        keys.room(.conversations, Array(user.utf8))
    }

    // MARK: What is said

    /// Says something, and has those told who take part.
    func send(_ message: OutgoingMessage, by member: ConversationMember) async throws -> ConversationStore.Sent {
        do {
            try member.check(message.target)
            let sent = try await store.send(message, by: member.device)
            for entry in sent.entries {
                metrics.messages.add(entry.isNew ? .stored : .repeated)
                // Of a repeat all have heard.
                if entry.isNew { await feeds.stored(entry.page) }
            }
            return sent
        } catch {
            metrics.messages.add(.refused)
            throw error
        }
    }

    /// Stores what somebody has said by a broker, and has those told who take part.
    ///
    /// - Returns: Whether it is new.
    package func receive(_ message: IncomingMessage) async throws -> Bool {
        let entries = try await store.receive(message).entries.filter(\.isNew)
        for entry in entries { await feeds.stored(entry.page) }
        return !entries.isEmpty
    }

    /// Does what somebody who hears conversations asks for.
    ///
    /// - Returns: What it is to be told.
    func perform(_ command: ConversationCommand, for member: ConversationMember) async -> ConversationEvent {
        switch command {
        case .refused(let error, let ref): return .error(ref: ref, error)
        case .send(let message, let ref):
            do {
                return .sent(ref: ref, try await send(message, by: member))
            } catch {
                return .error(ref: ref, refusal(error))
            }
        case .history(let conversation, let after, let limit, let ref):
            do {
                try member.check(conversation)
                return .history(
                    ref: ref,
                    try await store.messages(in: conversation, .after(after), limit: limit, for: member.device))
            } catch {
                return .error(ref: ref, refusal(error))
            }
        }
    }

    /// What somebody is told whose address has said as much as may be kept.
    func refusal(ref: String?) -> ConversationEvent {
        metrics.messages.add(.refused)
        return .error(ref: ref, refusal(RequestError.tooManyMessages(retryAfter: nil)))
    }

    private func refusal(_ error: any Error) -> RequestError {
        if let refusal = RequestError(answering: error) {
            if let quota = refusal.quota { metrics.quotas.add(quota) }
            return refusal
        }
        log.error("a message can't be dealt with", ["error": .string("\(error)")])
        return .internalError
    }

    // MARK: Those who hear

    /// Notifications may have been missed.
    package func resynchronise() {
        names.removeAll()
        users.removeAll()
        guard !audience.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).resynchronise() } }
    }

    /// The device was erased: its sockets end.
    package func end(_ device: DeviceID) {
        names[device] = nil
        users.removeAll()
        guard !audience.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).end(device) } }
    }

    /// The device has a name now: whoever waits for its conversations hears them from now on.
    func named(_ device: DeviceID, _ user: String) {
        names[device] = user
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).named(device, user) } }
    }
}

/// The names of devices that were here lately. They don't change; whoever was erased by another daemon is told by the database, and whose
/// name was forgotten is found out before it hears anything. Any thread.
final class UserNames: Sendable {
    private static let limit = 10_000
    private let names = Locked<[DeviceID: String]>([:])

    /// Somebody may have been erased, and nobody told.
    func removeAll() { names.withLock { $0 = [:] } }

    subscript(device: DeviceID) -> String? {
        get { names.withLock { $0[device] } }
        set {
            names.withLock { names in
                if newValue != nil, names.count >= Self.limit { names = [:] }
                names[device] = newValue
            }
        }
    }
}

/// The names of users that were seen lately, by what stands for them. Any thread.
final class KnownUsers: Sendable {
    private static let limit = 10_000
    /// `nil`: was erased.
    private let names = Locked<[Int: String?]>([:])

    /// Somebody may have been erased.
    func removeAll() { names.withLock { $0 = [:] } }

    /// In order; `nil` if one isn't known.
    subscript(users: [Int]) -> [String]? {
        names.withLock { names in
            var found: [String] = []
            for user in users {
                guard let name = names[user] else { return nil }
                if let name { found.append(name) }
            }
            return found.sorted()
        }
    }

    /// - Parameter found: What the database says of these.
    func add(_ users: [Int], _ found: [Int: String]) {
        names.withLock { names in
            if names.count + users.count > Self.limit { names = [:] }
            for user in users { names[user] = .some(found[user]) }
        }
    }
}

/// What conversations count. Any thread.
package struct ConversationMetrics: Sendable {
    /// Of what came by sockets: requests are counted where they are answered.
    let quotas: CounterSet<Quota>

    package init(quotas: CounterSet<Quota>) {
        self.quotas = quotas
    }

    enum Outcome: String, Sendable, CaseIterable {
        case stored, repeated, refused
    }

    let messages = CounterSet<Outcome>()

    package func write(to text: inout MetricsText) {
        text.counter(
            "letsswitch_messages_total", "Messages of conversations that were sent here, by what became of them.",
            messages.samples(label: "result"))
    }
}
