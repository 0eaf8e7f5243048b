package import Domain
package import FoundationEssentials
package import Sockets

/// Opens streams of a device's reminders. A stream sends stored reminders first, and then new ones. Any thread may use
/// it.
package struct ReminderSource: Sendable {
    /// A reserved stream with its backlog.
    package struct Opened: Sendable {
        fileprivate let reservation: EventStreamShard.Reservation
        fileprivate let backlog: ReminderBacklog
    }

    private let streams: EventStreams
    private let ready: @Sendable () async throws -> Void
    private let backlog: @Sendable (DeviceID, UUID?) async throws -> ReminderBacklog

    /// - Parameters:
    ///   - ready: Throws until the database was read once. The ids of rooms depend on its content.
    ///   - backlog: Returns the device's reminders whose task has not started, after the reminder with this id.
    package init(
        streams: EventStreams, ready: @escaping @Sendable () async throws -> Void,
        backlog: @escaping @Sendable (DeviceID, UUID?) async throws -> ReminderBacklog
    ) {
        self.streams = streams
        self.ready = ready
        self.backlog = backlog
    }

    /// Reserves a stream on `loop`, and reads its backlog. The stream collects events from now on.
    ///
    /// - Returns: `nil` if the device has reached its limit.
    /// - Throws: An error if the database is unavailable.
    package func open(_ device: DeviceID, window: ChangeWindow, after last: UUID?, on loop: EventLoop) async throws
        -> Opened?
    {
        try await ready()
        guard await streams.takePlace(for: device) else { return nil }
        let reservation = await loop.run { streams.shard(on: $0).reserve(device, window: window) }
        do {
            return Opened(reservation: reservation, backlog: try await backlog(device, last))
        } catch {
            await loop.run { streams.shard(on: $0).cancel(reservation) }
            throw error
        }
    }

    /// Starts to write to `transport`. Must be called on the reactor's thread.
    package func begin(_ opened: Opened, _ transport: any EventTransport, on reactor: Reactor) {
        streams.shard(on: reactor).begin(opened.reservation, transport, backlog: opened.backlog)
    }

    /// Cancels the stream because its reader has disconnected. Must be called on the loop.
    package func cancel(_ opened: Opened, on reactor: Reactor) {
        streams.shard(on: reactor).cancel(opened.reservation)
    }
}
