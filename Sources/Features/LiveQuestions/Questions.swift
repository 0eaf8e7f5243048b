package import Access
package import Domain
import FoundationEssentials
package import Messaging
package import Observability
package import Rooms
package import Sockets

/// All sessions of questions, as this daemon has to do with them. May be used from anywhere.
package final class Questions: Sendable {
    let store: QuestionStore
    let rooms: Rooms
    package let feeds: QuestionFeeds
    package let audience: SessionOccupancy
    package let metrics: QuestionMetrics
    /// What becomes of what is said.
    let responder: QuestionResponder
    /// How much devices may say, here and elsewhere.
    let messageRates: DeviceMessageRates
    /// For tasks that do little but wait for the database.
    let executor: any TaskExecutor
    /// Seconds since 1970, by which tickets expire.
    let now: @Sendable () -> Double
    let loops: [EventLoop]
    private let keys: RoomKeys
    private let shardKey = LoopLocal<QuestionShard>()

    /// - Parameters:
    ///   - sessionSize: Sockets of a session on this daemon.
    ///   - messageRates: How much devices may say, here and elsewhere.
    ///   - now: Seconds since 1970, as ``IdentityVerifier/now`` has them.
    package init(
        store: QuestionStore, rooms: Rooms, keys: RoomKeys, loops: [EventLoop], executor: any TaskExecutor,
        sessionSize: Int, messageRates: DeviceMessageRates, metrics: QuestionMetrics, log: Log,
        now: @escaping @Sendable () -> Double
    ) {
        self.now = now
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

    /// Those on a loop. On that loop.
    package func shard(on reactor: Reactor, loop: EventLoop) -> QuestionShard {
        shardKey.value(on: reactor) { QuestionShard(on: reactor, loop: loop, self) }
    }

    func room(of session: UUID) -> UUID { Self.room(of: session, keys) }

    private static func room(of session: UUID, _ keys: RoomKeys) -> UUID {
        keys.room(.questions, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// Where those are counted who are in a session.
    func hall(of session: UUID) -> UUID {
        keys.room(.hall, withUnsafeBytes(of: session.uuid) { Array($0) })
    }

    /// By which a session knows a device, whenever it comes; another in each session.
    func id(of device: DeviceID, in session: UUID) -> UUID {
        keys.room(.asker, withUnsafeBytes(of: session.uuid) { Array($0) } + Array(device.text.utf8))
    }

    /// The device was erased: its sockets end.
    package func end(_ device: DeviceID) {
        guard audience.total > 0 else { return }
        for loop in loops { loop.submit { self.shard(on: $0, loop: loop).end(device) } }
    }
}
