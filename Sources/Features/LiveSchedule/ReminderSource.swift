package import Domain
package import FoundationEssentials
package import Scheduling
package import Sockets

/// Where a device's reminders come from, to whoever wants them from some point on: what is stored, and then what fires. Any thread.
package struct ReminderSource: Sendable {
    /// A stream that may begin.
    package struct Opened: Sendable {
        fileprivate let reservation: EventStreamShard.Reservation
        fileprivate let backlog: ReminderBacklog
    }

    private let streams: EventStreams
    private let ready: @Sendable () async throws -> Void
    private let backlog: @Sendable (DeviceID, UUID?) async throws -> ReminderBacklog

    /// - Parameters:
    ///   - ready: Throws until the database has been read once: the rooms that streams listen to have their ids by what stands there.
    ///   - backlog: The device's reminders whose task has not started, as they stand to the one with this id.
    package init(
        streams: EventStreams, ready: @escaping @Sendable () async throws -> Void,
        backlog: @escaping @Sendable (DeviceID, UUID?) async throws -> ReminderBacklog
    ) {
        self.streams = streams
        self.ready = ready
        self.backlog = backlog
    }

    /// Makes room for a stream on `loop`, and asks the database what it has missed. It collects events from now on, for a while.
    ///
    /// - Returns: `nil` when the device has as many as it may.
    /// - Throws: That the database is away.
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

    /// Writes to `sink` from now on. On the loop.
    package func begin(_ opened: Opened, _ sink: any EventSink, on reactor: Reactor) {
        streams.shard(on: reactor).begin(opened.reservation, sink, backlog: opened.backlog)
    }

    /// Nobody is there any more to begin it. On the loop.
    package func cancel(_ opened: Opened, on reactor: Reactor) {
        streams.shard(on: reactor).cancel(opened.reservation)
    }
}
