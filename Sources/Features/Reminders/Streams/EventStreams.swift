import Basics
package import Domain
package import FoundationEssentials
package import Observability
package import Rooms
package import Schedule
import Server
package import Sockets

/// All event streams of this daemon. Any thread may use them.
package final class EventStreams: Sendable {
    private let loops: [EventLoop]
    private let rooms: Rooms
    private let keys: RoomKeys
    private let shardKey = LoopLocal<EventStreamShard>()
    private let quotaKey = LoopLocal<StreamQuota>()
    private let limitPerDevice: Int
    private let metrics: EventStreamMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void

    /// - Parameters:
    ///   - rooms: The rooms of the same loops.
    ///   - limitPerDevice: The maximum number of open streams of a device.
    ///   - metrics: Counts the lateness of reminders and refused streams.
    ///   - acknowledge: Receives the reminders that the kernel has accepted for a stream. Called on a loop.
    package init(
        loops: [EventLoop], rooms: Rooms, keys: RoomKeys, limitPerDevice: Int, metrics: EventStreamMetrics,
        acknowledge: @escaping @Sendable ([UUID]) -> Void
    ) {
        self.loops = loops
        self.rooms = rooms
        self.keys = keys
        self.metrics = metrics
        self.limitPerDevice = limitPerDevice
        self.acknowledge = acknowledge
    }

    /// Returns the streams of a loop. Must be called on that loop.
    func shard(on reactor: Reactor) -> EventStreamShard {
        shardKey.value(on: reactor) {
            EventStreamShard(on: reactor, rooms: rooms, keys: keys, metrics: metrics, acknowledge: acknowledge) {
                [weak self] device in
                self?.giveBackPlace(by: device)
            }
        }
    }

    // MARK: Limit per device

    /// Takes one of the device's places for streams. The place becomes free when the stream reserved by
    /// ``EventStreamShard/reserve(_:window:)`` ends.
    ///
    /// - Returns: Whether there was a free place.
    func takePlace(for device: DeviceID) async -> Bool {
        let isTaken = await home(of: device).run { self.quota(on: $0).take(for: device) }
        if !isTaken { metrics.turnedAway.add() }
        return isTaken
    }

    private func giveBackPlace(by device: DeviceID) {
        home(of: device).submit { self.quota(on: $0).giveBack(by: device) }
    }

    /// Returns the loop that counts the device's streams on all loops.
    private func home(of device: DeviceID) -> EventLoop {
        loops[Int(device.hashValue.magnitude % UInt(loops.count))]
    }

    private func quota(on reactor: Reactor) -> StreamQuota {
        quotaKey.value(on: reactor) { StreamQuota(limit: limitPerDevice) }
    }

    /// Whether this daemon has no streams.
    package var isEmpty: Bool { rooms.hasNoSubscribers }

    // MARK: Events

    /// Sends each reminder to its device's streams. A stream that already has a reminder doesn't send it again.
    ///
    /// - Parameter settled: All reminders up to this claim were delivered.
    package func deliver(_ reminders: [Reminder], settled: Int) {
        guard !isEmpty else { return }
        let now = MonotonicTime.now()
        rooms.publish(
            reminders.map {
                (StreamMessage.reminder($0, settled: settled, claimed: now), keys.device($0.device))
            })
    }

    /// Sends a test reminder to a device's streams on this daemon.
    ///
    /// - Returns: The number of the device's streams on this daemon.
    package func test(_ content: ReminderContent, to device: DeviceID) async -> Int {
        guard !isEmpty else { return 0 }
        rooms.publish([(StreamMessage.test(content), keys.device(device))])
        var count = 0
        for loop in loops {
            count += await loop.run { self.shard(on: $0).devices.count { $0 == device } }
        }
        return count
    }

    /// Sends devices all reminders whose task hasn't started, in claim order, because their streams may have missed
    /// some.
    ///
    /// - Parameter newest: Up to this claim, the devices have no other reminders.
    package func catchUp(_ devices: [DeviceID], with reminders: [Reminder], newest: Int) {
        guard !isEmpty else { return }
        let now = MonotonicTime.now()
        let reminders = Dictionary(grouping: reminders, by: \.device)
        rooms.publish(
            devices.map {
                (StreamMessage.caughtUp(reminders[$0] ?? [], newest: newest, claimed: now), keys.device($0))
            })
    }

    /// Makes the readers of these devices reconnect. `nil` means all readers.
    package func restart(_ devices: [DeviceID]? = nil) {
        guard !isEmpty else { return }
        let listeners = devices.map { $0.map(keys.device) } ?? [keys.allStreams]
        rooms.publish(listeners.map { (StreamMessage.restart, $0) })
    }

    /// Ends the streams of an erased device.
    package func end(_ device: DeviceID) {
        guard !isEmpty else { return }
        rooms.publish([(StreamMessage.erased, keys.device(device))])
    }

    /// Reports to a device's streams that one of its slots has changed.
    package func dayChanged(of device: DeviceID, at slot: Instant) {
        guard !isEmpty else { return }
        rooms.publish([(StreamMessage.ownSlot(slot), keys.device(device))])
    }

    /// Reports to a device's streams that its task moves to another room, and that the slot has changed.
    package func publish(_ rematch: Rematch) {
        guard !isEmpty else { return }
        let room = keys.device(rematch.device)
        rooms.publish([(StreamMessage.rematched(rematch), room), (StreamMessage.ownSlot(rematch.startsAt), room)])
    }

    /// Reports changed slots to the streams that show them.
    ///
    /// - Parameter slots: The slots, each with the devices that already know of the change.
    package func slotsChanged(_ slots: [Instant: [DeviceID]]) {
        guard !slots.isEmpty, !isEmpty else { return }
        for loop in loops { loop.submit { self.shard(on: $0).slotsChanged(slots) } }
    }

    /// Removes and returns the accepted reminders that aren't acknowledged yet. Called when the daemon stops.
    package func takeAcknowledgements() async -> [UUID] {
        var reminders: [UUID] = []
        for loop in loops { reminders += await loop.run { self.shard(on: $0).takeAcknowledgements() } }
        return reminders
    }

    /// Returns the devices with a stream on this daemon.
    package func devices() async -> Set<DeviceID> {
        var devices: Set<DeviceID> = []
        guard !isEmpty else { return devices }
        for loop in loops { devices.formUnion(await loop.run { self.shard(on: $0).devices }) }
        return devices
    }
}

/// The rooms that event streams subscribe to.
extension RoomKeys {
    /// The room of all streams.
    var allStreams: UUID { room(.allStreams) }

    /// The room of streams with the moving window.
    var nearDays: UUID { room(.nearDays) }

    /// The room of a device's streams.
    package func device(_ device: DeviceID) -> UUID { room(.device, Array(device.text.utf8)) }

    /// The room of streams that show a UTC day, counted from 1970.
    func day(_ day: Int) -> UUID { room(.day, withUnsafeBytes(of: day.littleEndian) { Array($0) }) }
}

/// Counts the open streams of devices. Each device is counted on one loop, for the streams of all loops.
final class StreamQuota {
    private let limit: Int
    private var taken: [DeviceID: Int] = [:]

    /// - Parameter limit: The maximum number of open streams of a device.
    init(limit: Int) {
        self.limit = limit
    }

    /// Takes a place for a stream.
    ///
    /// - Returns: Whether a place was free.
    func take(for device: DeviceID) -> Bool {
        let count = taken[device] ?? 0
        guard count < limit else { return false }
        taken[device] = count + 1
        return true
    }

    func giveBack(by device: DeviceID) {
        guard let count = taken[device] else { return }
        taken[device] = count > 1 ? count - 1 : nil
    }
}

extension EventStreams: ReminderReceiver {
    package func slotsClosed(_ slots: Set<Instant>) {
        slotsChanged(Dictionary(slots.map { ($0, []) }) { first, _ in first })
    }
}

/// The counters of event streams. Any thread may use them.
package struct EventStreamMetrics: Sendable {
    /// The time from the due time of a reminder until the kernel accepted it for the first stream.
    package let deliveryLateness = SharedHistogram(bounds: Histogram.latenessBounds)
    /// The number of streams refused because of the device's limit.
    package let turnedAway = Counter()

    package init() {}

    package func write(to text: inout MetricsText) {
        text.histogram(
            "letsswitch_reminder_delivery_lateness_seconds", "Time from the due instant to the first delivery.",
            deliveryLateness.snapshot)
    }
}
