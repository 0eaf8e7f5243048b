import Basics
import Domain
import FoundationEssentials
import Glibc
import Observability
import Rooms
import Scheduling
import Server
import Sockets
import Wire

/// The event streams of one event loop: those that are being made, what the kernel has taken for them, and which slots they are to be
/// told of next. Who listens to what is the rooms' to know. On the loop.
final class EventStreamShard {
    /// Comments keep proxies from closing a silent stream, and tell us of peers that are gone.
    private static let commentInterval = Duration.seconds(15)
    /// For the database to answer, after which a reservation expires.
    private static let reservationTime = Duration.seconds(30)
    /// Acknowledgements of one moment go to the database together.
    private static let acknowledgementDelay = Duration.milliseconds(5)
    /// A slot that changes many times in a moment is one event.
    private static let changeDelay = Duration.milliseconds(50)
    /// Time between two rounds of changes, when there are many.
    private static let changeInterval = Duration.milliseconds(500)
    /// Slots named in one round; more wait for the next.
    private static let changesPerRound = 256
    /// Slots that may wait; of more than that nobody is told. They are hints: whoever looks at a day asks for all of it.
    private static let maxChanges = GatheredChanges.limit

    private let reactor: Reactor
    private let rooms: Rooms
    private let keys: RoomKeys
    private let allStreams: UUID
    private let nearDays: UUID
    /// The rooms of this loop.
    private let shard: RoomShard
    private let metrics: EventStreamMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void
    private let ended: @Sendable (DeviceID) -> Void
    private let now: () -> Instant
    private var dayRooms: [Int: UUID] = [:]
    private var reservations: [Reservation: EventStream] = [:]
    private var lastReservation = 0

    private var acknowledged: [UUID] = []
    /// Slots that have changed, and the devices that know it.
    private var changed: [Instant: [DeviceID]] = [:]
    private var isChangeDue = false
    private var lastChangeRound: MonotonicTime?
    private var isCommenting = false

    /// - Parameters:
    ///   - acknowledge: Told the reminders that the kernel has taken for a stream.
    ///   - ended: Told the device of each stream that ends, or that is not to be after all.
    ///   - now: The time of day, for what is near.
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

    /// A stream that is being made, while the database is asked for its backlog.
    struct Reservation: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Makes room for a stream of the device, which collects events from now on.
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
        // For a connection that is lost meanwhile: then nobody begins or cancels.
        reactor.schedule(after: Self.reservationTime) { [weak self] in self?.cancel(reservation) }
        return reservation
    }

    /// The stream's head is sent: it writes to `content` from now on.
    func begin(_ reservation: Reservation, _ content: any EventSink, backlog: ReminderBacklog) {
        guard let stream = reservations.removeValue(forKey: reservation) else { return content.finish() }
        stream.begin(content, backlog: backlog)
    }

    /// There will be no stream. Does nothing when it has begun.
    func cancel(_ reservation: Reservation) {
        reservations.removeValue(forKey: reservation)?.end()
    }

    func remove(_ stream: EventStream) {
        for connection in stream.connections { rooms.unsubscribe(connection) }
        stream.connections = []
        ended(stream.device)
    }

    /// The devices that have a stream here, each as often as it has one.
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

    /// The room of those who show a day of UTC, counted from 1970. Remembered: a slot's costs a look-up.
    private func dayRoom(_ day: Int) -> UUID {
        if let room = dayRooms[day] { return room }
        if dayRooms.count >= 1024 { dayRooms = [:] }
        let room = keys.day(day)
        dayRooms[day] = room
        return room
    }

    /// Tells those who show the slots that they have changed, soon.
    ///
    /// - Parameter slots: With the devices that need not be told.
    func slotsChanged(_ slots: [Instant: [DeviceID]]) {
        guard !isEmpty else { return }
        let now = now()
        let isNearShown = !shard.connections(of: nearDays).isEmpty
        for (slot, known) in slots
        where (isNearShown && ChangeWindow.near.contains(slot, at: now))
            || !shard.connections(of: dayRoom(slot.day)).isEmpty
        {
            if let before = changed[slot] {
                // Whoever knows of both.
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

    /// The kernel has these reminders.
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

    /// What the kernel has taken and nobody was told of yet.
    func takeAcknowledgements() -> [UUID] {
        defer { acknowledged = [] }
        return acknowledged
    }
}
