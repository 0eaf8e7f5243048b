package import Access
import Basics
package import Domain
package import Observability
package import Sockets

/// The conversations on this daemon: their subscribers, feeds and commands. Any thread may use them.
package final class Conversations: Sendable {
    package let store: ConversationStore
    let rooms: ConversationRooms
    package let feeds: ConversationFeeds
    package let changes: ConversationChanges
    /// The users with subscribers on any loop.
    package let audience: ConnectedUsers
    let names = UserNames()
    /// The names of users by number.
    let users = KnownUsers()
    /// The message rates of devices. Sockets and requests share them.
    let rates: DeviceMessageRates
    /// Performs commands.
    package let responder: ConversationResponder
    /// The executor for tasks that mostly wait for the database.
    let executor: any TaskExecutor
    /// Returns the time that decides whether tickets have expired, in epoch seconds.
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
        let audience = ConnectedUsers()
        self.audience = audience
        feeds = ConversationFeeds(store: store, log: log, audience: audience) { rooms.publish($0) }
        changes = ConversationChanges(store: store, log: log, audience: audience) {
            rooms.publish($0, to: $1)
        } reaction: {
            rooms.publish($0, to: $1)
        }
        responder = ConversationResponder(store: store, feeds: feeds, metrics: metrics, log: log)
    }

    /// Returns the subscribers on a loop. Must be called on that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> ConversationShard {
        shardKey.value(on: reactor) { ConversationShard(on: reactor, loop: loop, self) }
    }

    /// Runs a query, and handles its result on a loop.
    func ask<Answer: Sendable>(
        on loop: EventLoop, for requester: Requester? = nil,
        _ work: @escaping @Sendable (Conversations) async throws -> Answer,
        then follow: @escaping @Sendable (ConversationShard, Result<Answer, any Error>) -> Void
    ) {
        Task(executorPreference: executor) {
            let answer: Result<Answer, any Error>
            do {
                answer = .success(try await Requester.$current.withValue(requester) { try await work(self) })
            } catch {
                answer = .failure(error)
            }
            loop.submit { follow(self.shard(on: $0, loop: loop), answer) }
        }
    }

    // MARK: Subscribers

    /// Reads all positions again, because notifications may have been missed.
    package func resynchronise() {
        names.removeAll()
        users.removeAll()
        guard !audience.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).resynchronise() } }
    }

    /// Ends the connections of an erased device.
    package func end(_ device: DeviceID) {
        names[device] = nil
        users.removeAll()
        guard !audience.isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).end(device) } }
    }

    /// Begins the hints of a device whose subscribers waited for its name.
    func named(_ device: DeviceID, _ user: String) {
        names[device] = user
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).watches.named(device, user) } }
    }
}

/// A cache of the names of recent devices. Names don't change. The database reports devices that other daemons erase.
/// An outdated name is noticed before the device receives anything. Any thread may use it.
final class UserNames: Sendable {
    private static let limit = 10_000
    private let names = Locked<[DeviceID: String]>([:])

    /// Removes all names, because a notification of an erased device may have been missed.
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

/// A cache of the names of recent users by number. Any thread may use it.
final class KnownUsers: Sendable {
    private static let limit = 10_000
    /// The names. `nil` for an erased user.
    private let names = Locked<[Int: String?]>([:])

    /// Removes all names, because a user may have been erased.
    func removeAll() { names.withLock { $0 = [:] } }

    /// Returns the names in order. Returns `nil` if one isn't cached.
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

    /// Adds the result of a query.
    ///
    /// - Parameter found: The names that the database returned.
    func add(_ users: [Int], _ found: [Int: String]) {
        names.withLock { names in
            if names.count + users.count > Self.limit { names = [:] }
            for user in users { names[user] = .some(found[user]) }
        }
    }
}
