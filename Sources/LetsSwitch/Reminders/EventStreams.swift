import Domain
import FoundationEssentials
import Glibc
import Observability
import Server
import Sockets
import Wire

/// The event streams that are open on one event loop: by device, and by the days that they show, so that what changes costs by
/// those whom it concerns.
final class EventStreams {
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
    private let metrics: EventStreamMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void
    private let ended: @Sendable (DeviceID) -> Void
    private let now: () -> Instant
    private var streams: [DeviceID: [EventStream]] = [:]
    /// By the days of UTC that they show, from 1970; and those that show what is near.
    private var byDay: [Int: [ObjectIdentifier: EventStream]] = [:]
    private var near: [ObjectIdentifier: EventStream] = [:]
    private(set) var count = 0
    private var reservations: [Reservation: EventStream] = [:]
    private var lastReservation = 0

    private var acknowledged: [UUID] = []
    /// Slots that have changed, and the devices that know it.
    private var changed: [Instant: [DeviceID]] = [:]
    private var isChangeDue = false
    private var lastChangeRound: MonotonicTime?
    private var isCommenting = false
    private let comment = StreamPiece { ServerSentEvent.comment("", into: &$0) }

    /// - Parameters:
    ///   - acknowledge: Told the reminders that the kernel has taken for a stream.
    ///   - ended: Told the device of each stream that ends, or that is not to be after all.
    ///   - now: The time of day, for what is near.
    init(
        on reactor: Reactor, metrics: EventStreamMetrics, acknowledge: @escaping @Sendable ([UUID]) -> Void,
        ended: @escaping @Sendable (DeviceID) -> Void, now: @escaping () -> Instant = { Instant(seconds: time(nil)) }
    ) {
        self.now = now
        self.reactor = reactor
        self.metrics = metrics
        self.acknowledge = acknowledge
        self.ended = ended
    }

    // MARK: Streams

    /// A stream that is being made, while the database is asked for its backlog.
    struct Reservation: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// Makes room for a stream of the device, which collects events from now on.
    func reserve(_ device: DeviceID, window: ChangeWindow = .near) -> Reservation {
        let stream = EventStream(of: device, window: window, in: self)
        streams[device, default: []].append(stream)
        if let days = window.days {
            for day in days { byDay[day, default: [:]][ObjectIdentifier(stream)] = stream }
        } else {
            near[ObjectIdentifier(stream)] = stream
        }
        count += 1
        comments()
        lastReservation += 1
        let reservation = Reservation(number: lastReservation)
        reservations[reservation] = stream
        // For a connection that is lost meanwhile: then nobody begins or cancels.
        schedule(after: Self.reservationTime) { [weak self] in self?.cancel(reservation) }
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
        guard let place = streams[stream.device]?.firstIndex(where: { $0 === stream }) else { return }
        streams[stream.device]?.remove(at: place)
        if streams[stream.device]?.isEmpty == true { streams[stream.device] = nil }
        near[ObjectIdentifier(stream)] = nil
        if let days = stream.window.days {
            for day in days {
                byDay[day]?[ObjectIdentifier(stream)] = nil
                if byDay[day]?.isEmpty == true { byDay[day] = nil }
            }
        }
        count -= 1
        ended(stream.device)
    }

    func schedule(after delay: Duration, _ action: @escaping () -> Void) {
        reactor.schedule(after: delay, action)
    }

    /// The devices that have a stream here.
    var devices: [DeviceID] { Array(streams.keys) }

    // MARK: Reminders

    /// Sends each reminder to its device's streams. A stream that had one already doesn't get it again.
    ///
    /// - Parameters:
    ///   - settled: Of this claim and all before it everything was delivered.
    ///   - claimed: When the claim that fired them was known here.
    func deliver(_ reminders: [Reminder], settled: Int, claimed: MonotonicTime) {
        for reminder in reminders {
            guard let streams = streams[reminder.device] else { continue }
            let bytes = StreamPiece { reminder.encode(into: &$0) }
            for stream in streams { stream.send(reminder, bytes, claimed: claimed, settled: settled) }
        }
    }

    /// Sends devices what they may have missed: all their reminders whose task has not started, in firing order.
    ///
    /// - Parameter newest: Up to this claim there is nothing else for them.
    func catchUp(_ devices: [DeviceID], with reminders: [DeviceID: [Reminder]], newest: Int, claimed: MonotonicTime) {
        for device in devices {
            guard let streams = streams[device] else { continue }
            for reminder in reminders[device] ?? [] {
                let bytes = StreamPiece { reminder.encode(into: &$0) }
                // What was before it came before it.
                let settled = Reminder.batch(of: reminder.seq) - 1
                for stream in streams { stream.send(reminder, bytes, claimed: claimed, settled: settled) }
            }
            for stream in streams { stream.settle(newest) }
        }
    }

    /// Has the readers of these devices come again; all, when nil.
    func restart(_ devices: [DeviceID]?) {
        for stream in devices.map({ $0.flatMap { streams[$0] ?? [] } }) ?? Array(streams.values.joined()) {
            stream.restart()
        }
    }

    // MARK: Changes

    /// Tells those who show the slots that they have changed, soon.
    ///
    /// - Parameter slots: With the devices that need not be told.
    func slotsChanged(_ slots: [Instant: [DeviceID]]) {
        guard count > 0 else { return }
        let now = now()
        for (slot, known) in slots
        where byDay[slot.day] != nil || (!near.isEmpty && ChangeWindow.near.contains(slot, at: now)) {
            if let before = changed[slot] {
                // Whoever knows of both.
                changed[slot] = before.filter(known.contains)
            } else if changed.count < Self.maxChanges {
                changed[slot] = known
            }
        }
        tellChangesSoon()
    }

    private func tellChangesSoon() {
        guard !isChangeDue, !changed.isEmpty else { return }
        isChangeDue = true
        var delay = Self.changeDelay
        if let lastChangeRound {
            delay = max(delay, Self.changeInterval - (MonotonicTime.now() - lastChangeRound))
        }
        schedule(after: delay) { [weak self] in self?.tellChanges() }
    }

    private func tellChanges() {
        isChangeDue = false
        lastChangeRound = reactor.now
        let slots = changed.keys.prefix(Self.changesPerRound).sorted()
        var known: [DeviceID: Set<Instant>] = [:]
        for slot in slots {
            for device in changed.removeValue(forKey: slot) ?? [] where streams[device] != nil {
                known[device, default: []].insert(slot)
            }
        }
        let now = now()
        // Most streams show one of a few windows.
        var pieces: [Range<Int>: StreamPiece] = [:]
        func tell(_ stream: EventStream) {
            let range = stream.window.range(in: slots, at: now)
            guard !range.isEmpty else { return }
            if let known = known[stream.device] {
                let rest = slots[range].filter { !known.contains($0) }
                if !rest.isEmpty { stream.send(StreamPiece { Self.encodeChanges(of: rest, into: &$0) }) }
                return
            }
            let piece = pieces[range] ?? StreamPiece { Self.encodeChanges(of: slots[range], into: &$0) }
            pieces[range] = piece
            stream.send(piece)
        }
        for stream in near.values { tell(stream) }
        var lastDay: Int?
        for slot in slots where slot.day != lastDay {
            for stream in (byDay[slot.day] ?? [:]).values {
                // It was told with the day before.
                if let lastDay, let first = stream.window.days?.lowerBound, first <= lastDay { continue }
                tell(stream)
            }
            lastDay = slot.day
        }
        tellChangesSoon()
    }

    /// Tells the device's streams that a slot has changed for it.
    func dayChanged(of device: DeviceID, at slot: Instant) {
        guard let streams = streams[device] else { return }
        let bytes = StreamPiece { Self.encodeChanges(of: [slot], into: &$0) }
        for stream in streams { stream.send(bytes) }
    }

    private static func encodeChanges(of slots: some Sequence<Instant>, into buffer: inout [UInt8]) {
        for slot in slots {
            ServerSentEvent(event: "schedule", data: #"{"startsAt":"\#(slot)"}"#).encode(into: &buffer)
        }
    }

    // MARK: Signs of life, and acknowledgements

    private func comments() {
        guard !isCommenting else { return }
        isCommenting = true
        schedule(after: Self.commentInterval) { [weak self] in
            guard let self else { return }
            isCommenting = false
            guard count > 0 else { return }
            for stream in streams.values.joined() { stream.send(comment) }
            comments()
        }
    }

    /// The kernel has these reminders.
    func taken(_ reminders: [EventStream.Unacknowledged]) {
        guard !reminders.isEmpty else { return }
        for reminder in reminders {
            guard let claimed = reminder.claimed else { continue }
            metrics.deliveryLateness.observe(.seconds(saturating: reminder.lateness) + (MonotonicTime.now() - claimed))
        }
        if acknowledged.isEmpty {
            schedule(after: Self.acknowledgementDelay) { [weak self] in
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
