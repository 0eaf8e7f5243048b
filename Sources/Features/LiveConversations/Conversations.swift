package import Access
import Basics
package import Domain
package import Messaging
package import Observability
package import Sockets

/// All conversations, as this daemon has to do with them. May be used from anywhere.
package final class Conversations: Sendable {
    package let store: ConversationStore
    let rooms: ConversationRooms
    package let feeds: ConversationFeeds
    package let changes: ConversationChanges
    /// Those who hear conversations, on all loops.
    package let audience: ConversationListeners
    let names = UserNames()
    /// By number.
    let users = KnownUsers()
    /// What devices may say, on whatever sockets and by requests.
    let rates: DeviceMessageRates
    /// What becomes of what is said.
    package let responder: ConversationResponder
    /// For tasks that do little but wait for the database.
    let executor: any TaskExecutor
    /// Seconds since 1970, by which tickets expire.
    let now: @Sendable () -> Double
    private let loops: [EventLoop]
    private let shardKey = LoopLocal<ConversationShard>()

    package init(
        store: ConversationStore, rooms: ConversationRooms, loops: [EventLoop], executor: any TaskExecutor,
        rates: DeviceMessageRates, metrics: ConversationMetrics, log: Log, now: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.store = store
        self.rooms = rooms
        self.loops = loops
        self.executor = executor
        self.rates = rates
        let audience = ConversationListeners()
        self.audience = audience
        feeds = ConversationFeeds(store: store, log: log, audience: audience) { rooms.publish($0) }
        changes = ConversationChanges(store: store, log: log, audience: audience) { rooms.publish($0, to: $1) }
        responder = ConversationResponder(store: store, feeds: feeds, metrics: metrics, log: log)
    }

    /// Those on a loop. On that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> ConversationShard {
        shardKey.value(on: reactor) { ConversationShard(on: reactor, loop: loop, self) }
    }

    /// Has the database asked, and does on a loop, with those there, what follows from the answer.
    func ask<Answer: Sendable>(
        on loop: EventLoop, _ work: @escaping @Sendable (Conversations) async throws -> Answer,
        then follow: @escaping @Sendable (ConversationShard, Result<Answer, any Error>) -> Void
    ) {
        Task(executorPreference: executor) {
            let answer: Result<Answer, any Error>
            do { answer = .success(try await work(self)) } catch { answer = .failure(error) }
            loop.submit { follow(self.shard(on: $0, loop: loop), answer) }
        }
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
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).watches.named(device, user) } }
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
