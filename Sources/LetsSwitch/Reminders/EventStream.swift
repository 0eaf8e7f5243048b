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
    private var collected: [(reminder: Reminder?, bytes: StreamPiece)] = []
    private var seen: [UUID] = []
    /// Written and not yet known to be with the kernel.
    private var unacknowledged: [UUID] = []

    init(of device: DeviceID, in streams: EventStreams) {
        self.device = device
        self.streams = streams
    }

    /// Writes to `stream` from now on: a comment at once, the backlog, what was collected meanwhile.
    func begin(_ stream: ResponseStream, backlog: [Reminder]) {
        guard !isOver else { return stream.finish() }
        self.stream = stream
        stream.closed = { [weak self] in self?.end() }
        stream.drained = { [weak self] in self?.drained() }
        stream.write(StreamPiece { ServerSentEvent.comment("reminders", into: &$0) })
        for reminder in backlog {
            send(reminder, StreamPiece { reminder.encode(into: &$0) })
        }
        let collected = collected
        self.collected = []
        for (reminder, bytes) in collected {
            if let reminder { send(reminder, bytes) } else { send(bytes) }
        }
    }

    func send(_ reminder: Reminder, _ bytes: StreamPiece) {
        guard let stream else { return collect(reminder, bytes) }
        guard !seen.contains(reminder.id) else { return }
        if seen.count == Self.memory { seen.removeFirst() }
        seen.append(reminder.id)
        stream.write(bytes)
        unacknowledged.append(reminder.id)
    }

    func send(_ bytes: StreamPiece) {
        guard let stream else { return collect(nil, bytes) }
        stream.write(bytes)
    }

    private func collect(_ reminder: Reminder?, _ bytes: StreamPiece) {
        // More than that within the time that one query takes: the reader comes again, and gets them from the database.
        guard collected.count < Self.memory else { return end() }
        collected.append((reminder, bytes))
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
