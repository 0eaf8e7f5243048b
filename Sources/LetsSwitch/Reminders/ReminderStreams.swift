import FoundationEssentials
import Server
import Sockets
import Synchronization

/// All event streams of this daemon. May be used from anywhere.
final class ReminderStreams: Sendable {
    private let loops: [EventLoop]
    private let key = LoopLocal<EventStreams>()
    private let placesKey = LoopLocal<StreamPlaces>()
    private let limitPerDevice: Int
    /// Places taken: without any, no loop is woken to tell nobody.
    private let taken = Atomic<Int>(0)
    private let metrics: ProductMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void

    /// - Parameters:
    ///   - limitPerDevice: Streams that a device may have open.
    ///   - metrics: Told how late each reminder was when the kernel took it, and of streams that found no place.
    ///   - acknowledge: Told the reminders that the kernel has taken for a stream; called on a loop.
    init(
        loops: [EventLoop], limitPerDevice: Int, metrics: ProductMetrics,
        acknowledge: @escaping @Sendable ([UUID]) -> Void
    ) {
        self.loops = loops
        self.metrics = metrics
        self.limitPerDevice = limitPerDevice
        self.acknowledge = acknowledge
    }

    /// The streams of a loop. On that loop.
    func streams(on reactor: Reactor) -> EventStreams {
        key.value(on: reactor) {
            EventStreams(on: reactor, metrics: metrics, acknowledge: acknowledge) { [weak self] device in
                self?.giveBackPlace(by: device)
            }
        }
    }

    // MARK: Places

    /// Takes one of the places that a device has for streams. It is given back when the stream ends that
    /// ``EventStreams/reserve(_:)`` makes.
    ///
    /// - Returns: Whether there was one.
    func takePlace(for device: DeviceID) async -> Bool {
        let isTaken = await home(of: device).run { self.places(on: $0).take(for: device) }
        if isTaken {
            taken.add(1, ordering: .relaxed)
        } else {
            metrics.turnedAway.add(.streamsPerDevice)
        }
        return isTaken
    }

    private func giveBackPlace(by device: DeviceID) {
        taken.subtract(1, ordering: .relaxed)
        home(of: device).submit { self.places(on: $0).giveBack(by: device) }
    }

    /// The loop that counts the device's streams, which may be on others.
    private func home(of device: DeviceID) -> EventLoop {
        loops[Int(device.hashValue.magnitude % UInt(loops.count))]
    }

    private func places(on reactor: Reactor) -> StreamPlaces {
        placesKey.value(on: reactor) { StreamPlaces(limit: limitPerDevice) }
    }

    // MARK: Events

    /// Sends the reminders to whoever listens for them here.
    func deliver(_ reminders: [Reminder]) {
        guard !reminders.isEmpty else { return }
        let now = MonotonicTime.now()
        for loop in loops { loop.submit { self.streams(on: $0).deliver(reminders, claimed: now) } }
    }

    /// Tells all streams that these slots have changed.
    func slotsChanged(_ slots: [Instant]) {
        guard !slots.isEmpty, taken.load(ordering: .relaxed) > 0 else { return }
        for loop in loops { loop.submit { self.streams(on: $0).slotsChanged(slots) } }
    }

    /// The reminders that the kernel has taken and that `acknowledge` was not told of yet: for a daemon that stops.
    func takeAcknowledgements() async -> [UUID] {
        var reminders: [UUID] = []
        for loop in loops { reminders += await loop.run { self.streams(on: $0).takeAcknowledgements() } }
        return reminders
    }

    /// Tells a device's streams that a slot has changed for it alone.
    func dayChanged(of device: DeviceID, at slot: Instant) {
        guard taken.load(ordering: .relaxed) > 0 else { return }
        for loop in loops { loop.submit { self.streams(on: $0).dayChanged(of: device, at: slot) } }
    }

    /// The devices that have a stream here.
    func devices() async -> Set<DeviceID> {
        var devices: Set<DeviceID> = []
        for loop in loops { devices.formUnion(await loop.run { self.streams(on: $0).devices }) }
        return devices
    }
}
