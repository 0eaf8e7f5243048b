import FoundationEssentials
import Server
import Sockets
import Wire

/// One `GET /reminders`: events to one reader.
///
/// ```
/// reserved (collects events) ──► begun: backlog from the database, then what was collected, then what comes
/// ```
///
/// Reserved before the database is asked for the backlog, so that no reminder falls between the two; whatever comes both
/// ways is sent once.
final class EventStream {
    /// Reminders whose ids are remembered, to send none twice: those of tasks that have not started.
    private static let memory = 256

    let device: DeviceID
    private unowned let streams: EventStreams
    private var stream: ResponseStream?
    private var isOver = false
    private var collected: [Collected] = []
    private var seen: [UUID] = []
    private var unacknowledged: [Unacknowledged] = []

    /// What came before the stream had begun.
    private enum Collected {
        case reminder(Reminder, StreamPiece, claimed: MonotonicTime?)
        case other(StreamPiece)
    }

    /// A reminder that was written and is not yet known to be with the kernel.
    struct Unacknowledged {
        let id: UUID
        /// Seconds that it was late when it was claimed.
        let lateness: Double
        /// When the claim was known here; `nil` for a reminder that waited for its reader.
        let claimed: MonotonicTime?
    }

    init(of device: DeviceID, in streams: EventStreams) {
        self.device = device
        self.streams = streams
    }

    /// Writes to `stream` from now on: a comment at once, the backlog, what was collected meanwhile.
    func begin(_ stream: ResponseStream, backlog: ReminderBacklog) {
        guard !isOver else { return stream.finish() }
        self.stream = stream
        stream.closed = { [weak self] in self?.end() }
        stream.drained = { [weak self] in self?.drained() }
        stream.write(StreamPiece { ServerSentEvent.comment("reminders", into: &$0) })
        seen = backlog.seen.suffix(Self.memory).map(\.id)
        // The reader has them; whoever sent them may have died before it could say so.
        streams.taken(
            backlog.seen.filter { $0.state == .pending }.map { Unacknowledged(id: $0.id, lateness: 0, claimed: nil) })
        for reminder in backlog.unseen {
            send(reminder, StreamPiece { reminder.encode(into: &$0) }, claimed: nil)
        }
        let collected = collected
        self.collected = []
        for event in collected {
            switch event {
            case .reminder(let reminder, let bytes, let claimed): send(reminder, bytes, claimed: claimed)
            case .other(let bytes): send(bytes)
            }
        }
    }

    /// Sends a reminder, unless the reader has it.
    func send(_ reminder: Reminder, _ bytes: StreamPiece, claimed: MonotonicTime?) {
        guard let stream else { return collect(.reminder(reminder, bytes, claimed: claimed)) }
        guard !seen.contains(reminder.id) else { return }
        if seen.count == Self.memory { seen.removeFirst() }
        seen.append(reminder.id)
        stream.write(bytes)
        unacknowledged.append(Unacknowledged(id: reminder.id, lateness: reminder.lateness, claimed: claimed))
    }

    /// Sends what is no reminder.
    func send(_ bytes: StreamPiece) {
        guard let stream else { return collect(.other(bytes)) }
        stream.write(bytes)
    }

    private func collect(_ event: Collected) {
        // More than that within the time that one query takes: the reader comes again, and gets them from the database.
        guard collected.count < Self.memory else { return end() }
        collected.append(event)
    }

    private func drained() {
        guard !unacknowledged.isEmpty else { return }
        streams.taken(unacknowledged)
        unacknowledged = []
    }

    /// Gives up the stream, or the reservation.
    func end() {
        guard !isOver else { return }
        isOver = true
        collected = []
        streams.remove(self)
    }
}

extension Reminder {
    /// The reminder as an event.
    func encode(into buffer: inout [UInt8]) {
        ServerSentEvent(id: id.uuidString, event: "reminder", data: payload).encode(into: &buffer)
    }
}
