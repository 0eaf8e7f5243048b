package import FoundationEssentials

/// The identity of one run of a daemon: random, made at start, never reused.
package struct DaemonID: Hashable, Sendable, CustomStringConvertible {
    package let uuid: UUID

    package init(_ uuid: UUID = UUID()) {
        self.uuid = uuid
    }

    package var description: String { uuid.uuidString.lowercased() }
}

/// A carrier of packets between the daemons of one server: PostgreSQL's NOTIFY, RabbitMQ, or the memory of a test.
///
/// A bus doesn't read the packets. The packets of one daemon arrive in order, and each arrives at most once. Packets
/// that are sent while the bus is unavailable or overloaded are lost. Receivers detect losses by the numbers in the
/// packets.
///
/// Only one ``BusRelay`` uses a bus, and makes one call after the other.
package protocol Bus: Sendable {
    /// The best packet size in bytes. Longer packets are also delivered.
    var packetSize: Int { get }

    /// Connects, and reconnects after each loss, until ``stop()``. Returns at once.
    ///
    /// - Parameter receive: Called with one event at a time, on a thread of the bus. The closure must not block.
    func start(_ receive: @escaping @Sendable (BusEvent) -> Void) async

    /// Stops sending. After the call returns, no event comes.
    func stop() async

    /// Sends packets in order. Returns when the bus has taken them and the next ones may be sent.
    ///
    /// - Throws: If some or all of the packets are lost. Lost packets aren't sent again.
    func send(_ packets: [BusPacket]) async throws(BusError)
}

/// A message from one daemon to others.
package struct BusPacket: Sendable, Equatable {
    package enum Destination: Sendable, Equatable {
        /// All daemons except the sender.
        case everyDaemon
        /// One daemon, which may be the sender.
        case daemon(DaemonID)
        /// The daemons with members in a room, as far as the sender knows; never the sender.
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
    /// Packets arrive from now on. Reported each time the bus has connected. Earlier packets may be lost.
    case connected
    case received(from: DaemonID, [UInt8])
    /// The bus is unavailable and tries to reconnect. `message` is for the log.
    case lost(message: String)
}

/// The reason why packets are lost.
package enum BusError: Error, Sendable, Equatable {
    /// The bus isn't connected.
    case unavailable
    /// The bus refused the packets, or too many were in flight.
    case refused(message: String)
}
