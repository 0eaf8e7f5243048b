package import FoundationEssentials

/// One run of a daemon: drawn when it starts, and never again.
package struct DaemonID: Hashable, Sendable, CustomStringConvertible {
    package let uuid: UUID

    package init(_ uuid: UUID = UUID()) {
        self.uuid = uuid
    }

    package var description: String { uuid.uuidString.lowercased() }
}

/// What carries packets between the daemons that are one server: PostgreSQL's NOTIFY, RabbitMQ, or a test's memory.
///
/// It looks into no packet. Those of one daemon arrive in the order in which they were sent, none twice, and perhaps not all: what is
/// sent while the bus is away, or can't keep up, is lost. Whoever hears them notices that by their numbers, not by the bus.
///
/// A bus is used by one ``BusRelay``, whose calls come one after the other.
package protocol Bus: Sendable {
    /// What is best sent in one packet, in bytes. Longer ones arrive all the same.
    var packetSize: Int { get }

    /// Connects, and again whenever the connection is lost, until ``stop()``. Returns at once.
    ///
    /// - Parameter receive: Told one event at a time, on a thread of the bus; must not block.
    func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async

    /// Sends nothing any more; after it has returned, no event comes.
    func stop() async

    /// Sends packets in order. Returns when the bus has taken them, and the next may be sent.
    ///
    /// - Throws: When some of them are lost, all perhaps: nobody sends them again.
    func send(_ packets: [BusPacket]) async throws(BusError)
}

/// A message from one daemon to others.
package struct BusPacket: Sendable, Equatable {
    package enum Destination: Sendable, Equatable {
        /// All daemons but the one that sends.
        case everyDaemon
        /// One, which may be the one that sends.
        case daemon(DaemonID)
        /// The daemons that have somebody in a room, as far as the sender knows; never the one that sends.
        case room(UUID, of: [DaemonID])
    }

    package let destination: Destination
    package let bytes: [UInt8]

    package init(to destination: Destination, _ bytes: [UInt8]) {
        self.destination = destination
        self.bytes = bytes
    }
}

package enum BusEvent: Sendable, Equatable {
    /// From now on packets come, at first and after every reconnection. Of before, some may be lost.
    case connected
    case received(from: DaemonID, [UInt8])
    /// The bus is away, and goes on trying to connect. `message` is for the log.
    case lost(message: String)
}

/// What was sent is lost.
package enum BusError: Error, Sendable, Equatable {
    /// There is no connection.
    case away
    /// The bus didn't take it: too much was under way, or it said no.
    case refused(message: String)
}
