import Basics
import Domain
import FoundationEssentials
import Glibc
import Observability
import Rooms
import Schedule
import Server
import Sockets
import Wire

/// The event streams of one event loop: reservations, acknowledgements and gathered changes. The loop's rooms hold the
/// subscriptions. Must be used on the loop.
final class EventStreamShard {
    /// The time between two comments. Comments keep proxies from closing a silent stream, and detect lost peers.
    private static let commentInterval = Duration.seconds(15)
    /// The maximum time of a reservation while the backlog is read.
    private static let reservationTime = Duration.seconds(30)
    /// The time for which acknowledgements are gathered, to write them together.
    private static let acknowledgementDelay = Duration.milliseconds(5)
    /// The time for which changes of a slot are gathered, to send one event.
    private static let changeDelay = Duration.milliseconds(50)
    /// The minimum time between two rounds of changes.
    private static let changeInterval = Duration.milliseconds(500)
    /// The maximum number of slots in one round. Further slots wait for the next round.
    private static let changesPerRound = 256
    /// The maximum number of waiting slots. Changes of further slots aren't reported. Changes are only hints: a reader
    /// loads the whole day when the user looks at it.
    private static let maxChanges = GatheredChanges.limit

    private let reactor: Reactor
    private let rooms: Rooms
    private let keys: RoomKeys
    private let allStreams: UUID
    private let nearDays: UUID
    /// The rooms of this event loop.
    private let shard: RoomShard
    private let metrics: EventStreamMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void
    private let ended: @Sendable (DeviceID) -> Void
    private let now: () -> Instant
    private var dayRooms: [Int: UUID] = [:]
    private var reservations: [Reservation: EventStream] = [:]
    private var lastReservation = 0

    private var acknowledged: [UUID] = []
    /// The changed slots, each with the devices that already know of the change.
    private var changed: [Instant: [DeviceID]] = [:]
    private var isChangeDue = false
    private var lastChangeRound: MonotonicTime?
    private var isCommenting = false

    /// - Parameters:
    ///   - acknowledge: Receives the reminders that the kernel has accepted for a stream.
    ///   - ended: Receives the device of each stream that ends or never begins.
    ///   - now: Returns the time of day, for the moving window.
    init(
        on reactor: Reactor, rooms: Rooms, keys: RoomKeys, metrics: EventStreamMetrics,
        acknowledge: @escaping @Sendable ([UUID]) -> Void, ended: @escaping @Sendable (DeviceID) -> Void,
        now: @escaping () -> Instant = { Instant(seconds: time(nil)) }
    ) {
        self.reactor = reactor
        self.rooms = rooms
        self.keys = keys
        allStreams = keys.allStreams
        nearDays = keys.nearDays
        self.shard = rooms.shard(on: reactor)
        self.metrics = metrics
        self.acknowledge = acknowledge
        self.ended = ended
        self.now = now
    }

    // MARK: Streams

    /// Identifies a stream that is being prepared while its backlog is read.
    struct Reservation: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Reserves a stream for the device. The stream collects events from now on.
    func reserve(_ device: DeviceID, window: ChangeWindow = .near) -> Reservation {
        let stream = EventStream(of: device, window: window, in: self)
        let slots = window.days.map { $0.map(dayRoom) } ?? [nearDays]
        stream.connections = ([keys.device(device), allStreams] + slots).map {
            rooms.subscribe(stream, to: $0, on: reactor)
        }
        comment()
        lastReservation += 1
        let reservation = Reservation(number: lastReservation)
        reservations[reservation] = stream
        // If the connection is lost before the stream begins, this timer cancels the reservation.
        reactor.schedule(after: Self.reservationTime) { [weak self] in self?.cancel(reservation) }
        return reservation
    }

    /// Begins the stream. The stream writes to `transport` from now on. The head of the response must have been sent.
    func begin(_ reservation: Reservation, _ transport: any EventTransport, backlog: ReminderBacklog) {
        guard let stream = reservations.removeValue(forKey: reservation) else { return transport.finish() }
        stream.begin(transport, backlog: backlog)
    }

    /// Cancels the reservation. Does nothing if the stream has begun.
    func cancel(_ reservation: Reservation) {
        reservations.removeValue(forKey: reservation)?.end()
    }

    func remove(_ stream: EventStream) {
        for connection in stream.connections { rooms.unsubscribe(connection) }
        stream.connections = []
        ended(stream.device)
    }

    /// The devices of this loop's streams. A device with several streams is repeated.
    var devices: [DeviceID] {
        shard.connections(of: allStreams).compactMap { ($0.peer as? EventStream)?.device }
    }

    private var isEmpty: Bool { shard.connections(of: allStreams).isEmpty }

    private func comment() {
        guard !isCommenting else { return }
        isCommenting = true
        reactor.schedule(after: Self.commentInterval) { [weak self] in
            guard let self else { return }
            isCommenting = false
            guard !isEmpty else { return }
            shard.publish(StreamMessage.comment, to: allStreams)
            comment()
        }
    }

    // MARK: Changes of slots

    /// Returns the room of a UTC day, counted from 1970. The result is cached, because each changed slot needs it.
    private func dayRoom(_ day: Int) -> UUID {
        if let room = dayRooms[day] { return room }
        if dayRooms.count >= 1024 { dayRooms = [:] }
        let room = keys.day(day)
        dayRooms[day] = room
        return room
    }

    /// Reports changed slots to the streams that show them, after a short delay.
    ///
    /// - Parameter slots: The slots, each with the devices that already know of the change.
    func slotsChanged(_ slots: [Instant: [DeviceID]]) {
        guard !isEmpty else { return }
        let now = now()
        let isNearShown = !shard.connections(of: nearDays).isEmpty
        for (slot, known) in slots
        where (isNearShown && ChangeWindow.near.contains(slot, at: now))
            || !shard.connections(of: dayRoom(slot.day)).isEmpty
        {
            if let before = changed[slot] {
                // Keeps the devices that know of both changes.
                changed[slot] = before.filter(known.contains)
            } else if changed.count < Self.maxChanges {
                changed[slot] = known
            }
        }
        publishChangesSoon()
    }

    private func publishChangesSoon() {
        guard !isChangeDue, !changed.isEmpty else { return }
        isChangeDue = true
        var delay = Self.changeDelay
        if let lastChangeRound {
            delay = max(delay, Self.changeInterval - (MonotonicTime.now() - lastChangeRound))
        }
        reactor.schedule(after: delay) { [weak self] in self?.publishChanges() }
    }

    private func publishChanges() {
        isChangeDue = false
        lastChangeRound = reactor.now
        let slots = changed.keys.prefix(Self.changesPerRound).sorted()
        var known: [DeviceID: Set<Instant>] = [:]
        for slot in slots {
            for device in changed.removeValue(forKey: slot) ?? [] { known[device, default: []].insert(slot) }
        }
        let now = now()
        func publish(_ slots: some Sequence<Instant>, to room: UUID) {
            shard.publish(
                StreamMessage.slots(ChangedSlots(slots: Array(slots), known: known, now: now)), to: room)
        }
        publish(slots, to: nearDays)
        var day = slots[...]
        while let first = day.first {
            let rest = day.drop { $0.day == first.day }
            publish(day[..<rest.startIndex], to: dayRoom(first.day))
            day = rest
        }
        publishChangesSoon()
    }

    // MARK: Acknowledgements

    /// Records that the kernel has accepted these reminders.
    func taken(_ reminders: [EventStream.Unacknowledged]) {
        guard !reminders.isEmpty else { return }
        for reminder in reminders {
            guard let claimed = reminder.claimed else { continue }
            metrics.deliveryLateness.observe(.seconds(saturating: reminder.lateness) + (MonotonicTime.now() - claimed))
        }
        if acknowledged.isEmpty {
            reactor.schedule(after: Self.acknowledgementDelay) { [weak self] in
                guard let self else { return }
                let reminders = takeAcknowledgements()
                if !reminders.isEmpty { acknowledge(reminders) }
            }
        }
        acknowledged.append(contentsOf: reminders.lazy.map(\.id))
    }

    /// Removes and returns the accepted reminders that aren't acknowledged yet.
    func takeAcknowledgements() -> [UUID] {
        defer { acknowledged = [] }
        return acknowledged
    }
}
