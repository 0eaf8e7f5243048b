package import Access
import Basics
package import Domain
import Observability
package import Rooms
import Server
package import Sockets
import Wire

/// All Action Cable connections of this daemon. Any thread may use them.
package final class Cables: Sendable {
    let loops: [EventLoop]
    let rooms: Rooms
    let verifier: IdentityVerifier
    let limits: CableLimits
    let messageRates: DeviceMessageRates
    let metrics: CableMetrics
    /// The sessions of clients that use the extended protocol.
    let sessions = CableSessions()
    /// The executor of tasks that wait for the database.
    let executor: (any TaskExecutor)?
    private let channels: [any CableChannel]
    private let key = LoopLocal<CableShard>()

    package init(
        _ channels: [any CableChannel], loops: [EventLoop], rooms: Rooms, verifier: IdentityVerifier,
        limits: CableLimits, messageRates: DeviceMessageRates, metrics: CableMetrics, executor: (any TaskExecutor)?
    ) {
        self.channels = channels
        self.loops = loops
        self.rooms = rooms
        self.verifier = verifier
        self.limits = limits
        self.messageRates = messageRates
        self.metrics = metrics
        self.executor = executor
    }

    /// Returns the connections of a loop. Must be called on that loop.
    func shard(on reactor: Reactor) -> CableShard {
        key.value(on: reactor) { CableShard(self, on: reactor) }
    }

    /// Returns the channel with this name. Names are compared byte for byte, as in Ruby.
    func channel(named name: [UInt8]?) -> (any CableChannel)? {
        guard let name else { return nil }
        return channels.first { channel in
            UnsafeRawBufferPointer(start: channel.name.utf8Start, count: channel.name.utf8CodeUnitCount)
                .elementsEqual(name)
        }
    }

    /// Closes the connections of a device for good, and ends its subscriptions on other connections.
    package func disconnect(_ device: DeviceID) {
        for loop in loops {
            loop.submit { self.shard(on: $0).disconnect(device) }
        }
    }

    package func connectionCount() async -> Int {
        var count = 0
        for loop in loops { count += await loop.run { self.shard(on: $0).connectionCount } }
        return count
    }
}
