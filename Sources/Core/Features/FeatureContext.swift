package import Access
package import Domain
package import Observability
package import Rooms
package import Sockets

/// The parts of the daemon that all features share.
package struct FeatureContext: Sendable {
    /// The id of this daemon among the daemons on the same database.
    package let daemon: DaemonID
    package let loops: [EventLoop]
    /// The rooms on `loops`.
    package let rooms: Rooms
    /// The keys that make the ids of rooms. They are read from the database before the first request is answered.
    package let keys: RoomKeys
    package let identities: IdentityVerifier
    /// The rates at which devices may send messages, over all protocols.
    package let messageRates: DeviceMessageRates
    /// How long a person without a connection still counts as present.
    package let presenceGrace: Duration
    package let pools: DatabasePools
    package let database: any DatabaseReadiness
    /// The limits of stored rows.
    package let storage: StorageQuota
    /// Counts the requests that a full quota refused.
    package let quotas: CounterSet<Quota>
    package let log: Log

    package init(
        daemon: DaemonID, loops: [EventLoop], rooms: Rooms, keys: RoomKeys, identities: IdentityVerifier,
        messageRates: DeviceMessageRates, presenceGrace: Duration, pools: DatabasePools,
        database: any DatabaseReadiness, storage: StorageQuota, quotas: CounterSet<Quota>, log: Log
    ) {
        self.daemon = daemon
        self.loops = loops
        self.rooms = rooms
        self.keys = keys
        self.identities = identities
        self.messageRates = messageRates
        self.presenceGrace = presenceGrace
        self.pools = pools
        self.database = database
        self.storage = storage
        self.quotas = quotas
        self.log = log
    }
}
