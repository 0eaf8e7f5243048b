import FoundationEssentials
import Server
import Sockets
import Wire

/// The event streams that are open on one event loop, by device.
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
    private static let maxChanges = 10_000

    private let reactor: Reactor
    private let metrics: ProductMetrics
    private let acknowledge: @Sendable ([UUID]) -> Void
    private let ended: @Sendable (DeviceID) -> Void
    private var streams: [DeviceID: [EventStream]] = [:]
    private(set) var count = 0
    private var reservations: [Reservation: EventStream] = [:]
    private var lastReservation = 0

    private var acknowledged: [UUID] = []
    private var changed: Set<Instant> = []
    private var isChangeDue = false
    private var lastChangeRound: MonotonicTime?
    private var isCommenting = false
    private let comment = StreamPiece { ServerSentEvent.comment("", into: &$0) }

    /// - Parameters:
    ///   - acknowledge: Told the reminders that the kernel has taken for a stream.
    ///   - ended: Told the device of each stream that ends, or that is not to be after all.
    init(
        on reactor: Reactor, metrics: ProductMetrics, acknowledge: @escaping @Sendable ([UUID]) -> Void,
        ended: @escaping @Sendable (DeviceID) -> Void
    ) {
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
    func reserve(_ device: DeviceID) -> Reservation {
        let stream = EventStream(of: device, in: self)
        streams[device, default: []].append(stream)
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
    func begin(_ reservation: Reservation, _ content: ResponseStream, backlog: ReminderBacklog) {
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
        count -= 1
        ended(stream.device)
    }

    func schedule(after delay: Duration, _ action: @escaping () -> Void) {
        reactor.schedule(after: delay, action)
    }

    /// The devices that have a stream here.
    var devices: [DeviceID] { Array(streams.keys) }

    // MARK: Events

    /// Sends each reminder to its device's streams. A stream that had one already doesn't get it again.
    ///
    /// - Parameter claimed: When the claim that fired them was known here.
    func deliver(_ reminders: [Reminder], claimed: MonotonicTime) {
        for reminder in reminders {
            guard let streams = streams[reminder.device] else { continue }
            let bytes = StreamPiece { reminder.encode(into: &$0) }
            for stream in streams { stream.send(reminder, bytes, claimed: claimed) }
        }
    }

    /// Tells every stream that the slots have changed, soon.
    func slotsChanged(_ slots: some Sequence<Instant>) {
        guard count > 0 else { return }
        for slot in slots where changed.count < Self.maxChanges { changed.insert(slot) }
        guard !isChangeDue, !changed.isEmpty else { return }
        isChangeDue = true
        var delay = Self.changeDelay
        if let lastChangeRound {
            delay = max(delay, Self.changeInterval - (MonotonicTime.now() - lastChangeRound))
        }
        schedule(after: delay) { [weak self] in self?.tellChanges() }
    }

    /// Tells the device's streams that a slot has changed for it alone.
    func dayChanged(of device: DeviceID, at slot: Instant) {
        guard let streams = streams[device] else { return }
        let bytes = StreamPiece { Self.encodeChange(of: slot, into: &$0) }
        for stream in streams { stream.send(bytes) }
    }

    private static func encodeChange(of slot: Instant, into buffer: inout [UInt8]) {
        ServerSentEvent(event: "schedule", data: #"{"startsAt":"\#(slot)"}"#).encode(into: &buffer)
    }

    private func tellChanges() {
        isChangeDue = false
        lastChangeRound = reactor.now
        let round = changed.prefix(Self.changesPerRound).sorted()
        changed.subtract(round)
        let bytes = StreamPiece { buffer in
            for slot in round { Self.encodeChange(of: slot, into: &buffer) }
        }
        for stream in streams.values.joined() { stream.send(bytes) }
        slotsChanged([])
    }

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
            metrics.deliveryLateness.observe(.seconds(reminder.lateness) + (MonotonicTime.now() - claimed))
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
