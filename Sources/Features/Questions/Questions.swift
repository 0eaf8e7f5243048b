package import Access
package import Domain
import FoundationEssentials
package import Observability
package import Rooms
package import Sockets

/// All question sessions on this daemon. Any thread may use them.
package final class Questions: Sendable {
    let store: QuestionStore
    let rooms: Rooms
    package let feeds: QuestionFeeds
    package let audience: SessionOccupancy
    package let metrics: QuestionMetrics
    /// Performs messages.
    let responder: QuestionResponder
    let questionRates: QuestionRates
    /// The rates of messages of devices. Other features share them.
    let messageRates: DeviceMessageRates
    /// The executor for tasks that mostly wait for the database.
    let executor: any TaskExecutor
    /// Returns the time that decides whether tickets have expired, in epoch seconds.
    let now: @Sendable () -> Double
    let loops: [EventLoop]
    private let keys: RoomKeys
    private let shardKey = LoopLocal<QuestionShard>()

    /// - Parameters:
    ///   - sessionSize: The maximum number of connections in a session on this daemon.
    ///   - questionRates: The rates at which networks may ask questions.
    ///   - messageRates: The rates of messages of devices. Other features share them.
    ///   - now: Returns the epoch seconds of ``IdentityVerifier/now``.
    package init(
        store: QuestionStore, rooms: Rooms, keys: RoomKeys, loops: [EventLoop], executor: any TaskExecutor,
        sessionSize: Int, questionRates: QuestionRates, messageRates: DeviceMessageRates, metrics: QuestionMetrics,
        log: Log,
        now: @escaping @Sendable () -> Double
    ) {
        self.now = now
        self.questionRates = questionRates
        self.messageRates = messageRates
        self.store = store
        self.rooms = rooms
        self.keys = keys
        self.loops = loops
        self.executor = executor
        self.metrics = metrics
        audience = SessionOccupancy(limit: sessionSize)
        feeds = QuestionFeeds(store: store, audience: audience, log: log) { publication, session in
            rooms.publish([(publication, Self.room(of: session, keys))])
        }
        responder = QuestionResponder(store: store, feeds: feeds, metrics: metrics, log: log)
    }

    /// Returns the subscribers on a loop. Must be called on that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> QuestionShard {
        shardKey.value(on: reactor) { QuestionShard(on: reactor, loop: loop, self) }
    }

    func room(of session: UUID) -> UUID { Self.room(of: session, keys) }

    private static func room(of session: UUID, _ keys: RoomKeys) -> UUID {
        keys.room(.questions, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// Returns the room whose members are counted as the people in the session.
    func audienceRoom(of session: UUID) -> UUID {
        keys.room(.audience, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// Returns the id of a device within a session. A device has a different id in each session, which never changes.
    func id(of device: DeviceID, in session: UUID) -> UUID {
        keys.room(.asker, withUnsafeBytes(of: session.uuid) { Array($0) } + Array(device.text.utf8))
    }

    /// Ends the connections of an erased device.
    package func end(_ device: DeviceID) {
        guard audience.total > 0 else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).end(device) } }
    }
}
