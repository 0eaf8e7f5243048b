import Basics
import Postgres
import Rooms

/// The sending connection of a bus, from a start to a stop. Each call sends one statement, in the order of the calls.
final class NotifySender: Sendable {
    /// The lists are separated by commas, because channels and payloads contain none.
    private static let notify = PostgresStatement(
        name: "bus_notify",
        sql: """
            SELECT pg_notify(channel, payload)
            FROM unnest(string_to_array($1, ','), string_to_array($2, ',')) AS message (channel, payload)
            """)
    private static let ping = PostgresStatement(name: "bus_ping", sql: "SELECT 1")
    static let statementNames = [notify, ping].map(\.name)
    /// The maximum size of a packet in one payload.
    static let packetSize = NotifyPayload.maxPacketBytes

    private let client: PostgresClient
    private let packer: Locked<NotifyPacker>

    init(_ id: DaemonID, _ configuration: PostgresConfiguration, observer: (any PostgresObserver)?) {
        client = PostgresClient(configuration: configuration, observer: observer)
        // The number is larger than all numbers that a bus with this id has used, because no bus sends one payload per
        // nanosecond.
        packer = Locked(NotifyPacker(sender: id, after: MonotonicTime.now().nanoseconds))
    }

    /// Sends packets. Runs on the caller's executor, so that payloads are numbered in the order of the calls. Takes at
    /// most the time of a query.
    ///
    /// - Parameter lost: Called with the reason before the call throws, if the connection doesn't work.
    func send(
        _ packets: [BusPacket], isolation: isolated (any Actor)? = #isolation, lost: (String) -> Void
    ) async throws(BusError) {
        let messages = try packer.withLock { packer throws(BusError) in try packer.pack(packets) }
        guard !messages.isEmpty else { return }
        let channels = messages.lazy.map(\.channel.name).joined(separator: ",")
        let payloads = messages.lazy.map(\.payload).joined(separator: ",")
        do {
            _ = try await client.query(Self.notify, [.text(channels), .text(payloads)])
        } catch let error as PostgresError {
            switch error.kind {
            case .unavailable, .shutDown:
                lost(error.message)
                throw .unavailable
            case .refused, .conflict, .server, .decoding, .invalidParameter:
                throw .refused(message: error.message)
            }
        } catch {
            // The task was cancelled.
            throw .unavailable
        }
    }

    /// Returns whether the connection works.
    func answers() async -> Bool {
        (try? await client.query(Self.ping)) != nil
    }

    func shutdown() async { await client.shutdown() }
}
