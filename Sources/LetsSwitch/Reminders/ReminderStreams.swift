import Domain
import FoundationEssentials
import Observability
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
    private let metrics: EventStreamMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void

    /// - Parameters:
    ///   - limitPerDevice: Streams that a device may have open.
    ///   - metrics: Told how late each reminder was when the kernel took it, and of streams that found no place.
    ///   - acknowledge: Told the reminders that the kernel has taken for a stream; called on a loop.
    init(
        loops: [EventLoop], limitPerDevice: Int, metrics: EventStreamMetrics,
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
            metrics.turnedAway.add()
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

    /// Whether nobody listens here.
    var isEmpty: Bool { taken.load(ordering: .relaxed) == 0 }

    // MARK: Events

    /// Sends the reminders to whoever listens for them here.
    ///
    /// - Parameter settled: Of this claim and all before it everything was delivered.
    func deliver(_ reminders: [Reminder], settled: Int) {
        guard !reminders.isEmpty, !isEmpty else { return }
        let now = MonotonicTime.now()
        for loop in loops {
            loop.submit { self.streams(on: $0).deliver(reminders, settled: settled, claimed: now) }
        }
    }

    /// Sends these devices what they may have missed; see ``EventStreams/catchUp(_:with:newest:claimed:)``.
    func catchUp(_ devices: [DeviceID], with reminders: [Reminder], newest: Int) {
        let now = MonotonicTime.now()
        let reminders = Dictionary(grouping: reminders, by: \.device)
        for loop in loops {
            loop.submit { self.streams(on: $0).catchUp(devices, with: reminders, newest: newest, claimed: now) }
        }
    }

    /// Has the readers of these devices come again; all, when nil.
    func restart(_ devices: [DeviceID]? = nil) {
        for loop in loops { loop.submit { self.streams(on: $0).restart(devices) } }
    }

    /// Tells those who show these slots that they have changed.
    ///
    /// - Parameter slots: With the devices that need not be told.
    func slotsChanged(_ slots: [Instant: [DeviceID]]) {
        guard !slots.isEmpty, !isEmpty else { return }
        for loop in loops { loop.submit { self.streams(on: $0).slotsChanged(slots) } }
    }

    /// The reminders that the kernel has taken and that `acknowledge` was not told of yet: for a daemon that stops.
    func takeAcknowledgements() async -> [UUID] {
        var reminders: [UUID] = []
        for loop in loops { reminders += await loop.run { self.streams(on: $0).takeAcknowledgements() } }
        return reminders
    }

    /// Tells a device's streams that a slot has changed for it.
    func dayChanged(of device: DeviceID, at slot: Instant) {
        guard !isEmpty else { return }
        for loop in loops { loop.submit { self.streams(on: $0).dayChanged(of: device, at: slot) } }
    }

    /// The devices that have a stream here.
    func devices() async -> Set<DeviceID> {
        var devices: Set<DeviceID> = []
        for loop in loops { devices.formUnion(await loop.run { self.streams(on: $0).devices }) }
        return devices
    }
}
