import Basics
package import Domain
package import FoundationEssentials
import Rooms
package import Scheduling
package import Server
import Sockets
import Wire

/// One `GET /reminders`: events to one reader, who listens to the room of the device's reminders and to those of the slots that it shows.
///
/// ```
/// reserved (collects events) ──► begun: backlog from the database, then what was collected, then what comes
///     ├──► revoked ────────────────────┴──► over
///     └─────────────────────────────────────▲
/// ```
///
/// Reserved before the database is asked for the backlog, so that no reminder falls between the two; whatever comes both
/// ways is sent once.
final class EventStream: RoomListener {
    /// Events that may come while one query takes its time.
    private static let collectedLimit = 1024

    let device: DeviceID
    /// The slots whose changes it is told of.
    let window: ChangeWindow
    private unowned let shard: EventStreamShard
    /// Its places in the rooms that it listens to. ``EventStreamShard``'s to set.
    var connections: [Connection] = []
    private var state = State.reserved([])
    private var seen = SeenReminders()
    /// The last one that was sent in its turn: what a reader that comes again has seen all of.
    private var lastInOrder: UUID?
    private var unacknowledged: [Unacknowledged] = []

    private enum State {
        case reserved([Collected])
        /// The device was erased before the stream had begun.
        case revoked
        case begun(any EventSink)
        case over
    }

    /// What came before the stream had begun.
    private enum Collected {
        case reminder(Reminder, StreamChunk, claimed: MonotonicTime?, settled: Int)
        case settled(Int)
        case other(StreamEvent, StreamChunk)
    }

    /// A reminder that was written and is not yet known to be with the kernel.
    struct Unacknowledged {
        let id: UUID
        /// Seconds that it was late when it was claimed.
        let lateness: Double
        /// When the claim was known here; `nil` for a reminder that waited for its reader.
        let claimed: MonotonicTime?
    }

    init(of device: DeviceID, window: ChangeWindow, in shard: EventStreamShard) {
        self.device = device
        self.window = window
        self.shard = shard
    }

    // MARK: What is published

    func deliver(_ publication: Publication) {
        guard let message = publication.message as? StreamMessage else { return }
        switch message {
        case .reminder(let reminder, let settled, let claimed):
            let piece = publication.form { StreamChunk { reminder.encode(into: &$0) } }
            send(reminder, piece, claimed: claimed, settled: settled)
        case .caughtUp(let reminders, let newest, let claimed):
            let pieces = publication.form {
                reminders.map { reminder in StreamChunk { reminder.encode(into: &$0) } }
            }
            for (reminder, piece) in zip(reminders, pieces) {
                // What was before it came before it.
                send(reminder, piece, claimed: claimed, settled: Reminder.batch(of: reminder.seq) - 1)
            }
            settle(newest)
        case .slots(let changes):
            if let (slots, piece) = changes.told(device, showing: window, as: publication) {
                send(.changed(slots), piece)
            }
        case .ownSlot(let slot): send(.changed([slot]), publication.form { StreamChunk { [slot].encode(into: &$0) } })
        case .test(let content):
            let piece = publication.form {
                // Without an id: whoever comes again is where it was.
                StreamChunk { ServerSentEvent(event: "reminder", data: content.json).encode(into: &$0) }
            }
            send(.test(content), piece)
        case .rematched(let rematch):
            send(.rematched(rematch), publication.form { StreamChunk { rematch.encode(into: &$0) } })
        case .comment: send(.comment, publication.form { StreamChunk { ServerSentEvent.comment("", into: &$0) } })
        case .restart:
            if case .begun(let sink) = state { sink.finish() }
            end()
        case .erased:
            switch state {
            case .reserved: state = .revoked
            case .begun(let sink):
                sink.revoke()
                end()
            case .revoked, .over: break
            }
        }
    }

    // MARK: What is sent

    /// Writes to `sink` from now on: a comment at once, the backlog, what was collected meanwhile.
    func begin(_ sink: any EventSink, backlog: ReminderBacklog) {
        if case .revoked = state {
            sink.revoke()
            return end()
        }
        guard case .reserved(let collected) = state else { return sink.finish() }
        state = .begun(sink)
        sink.closed = { [weak self] in self?.end() }
        sink.drained = { [weak self] in self?.drained() }
        sink.write(.comment, as: StreamChunk { ServerSentEvent.comment("reminders", into: &$0) })
        lastInOrder = backlog.seen.last?.id
        // The reader has them; whoever sent them may have died before it could say so.
        shard.taken(
            backlog.seen.filter { $0.state == .pending }.map { Unacknowledged(id: $0.id, lateness: 0, claimed: nil) })
        for reminder in backlog.unseen {
            write(reminder, StreamChunk { reminder.encode(into: &$0) }, claimed: nil, to: sink)
            lastInOrder = reminder.id
        }
        seen = SeenReminders(through: backlog.through)
        for event in collected {
            switch event {
            case .reminder(let reminder, let bytes, let claimed, let settled):
                send(reminder, bytes, claimed: claimed, settled: settled)
            case .settled(let batch): settle(batch)
            case .other(let event, let bytes): send(event, bytes)
            }
        }
        // More than one answer holds: the reader comes again for the rest.
        if !backlog.isComplete {
            sink.finish()
            end()
        }
    }

    /// Sends a reminder, unless the reader has it.
    ///
    /// - Parameter settled: Of this batch and all before it everything was sent.
    private func send(_ reminder: Reminder, _ bytes: StreamChunk, claimed: MonotonicTime?, settled: Int) {
        guard case .begun(let sink) = state else {
            return collect(.reminder(reminder, bytes, claimed: claimed, settled: settled))
        }
        switch seen.take(reminder.seq, settled: settled) {
        case .seen: break
        case .inOrder:
            write(reminder, bytes, claimed: claimed, to: sink)
            lastInOrder = reminder.id
        case .early:
            write(reminder, bytes, claimed: claimed, to: sink)
            // Whoever comes again from here on has seen no more than before: an id alone is no event (HTML, 9.2.6).
            let last = lastInOrder?.text ?? ""
            sink.write(.position(lastInOrder), as: StreamChunk { $0.append(contentsOf: "id: \(last)\n\n".utf8) })
        case .overflow:
            sink.finish()
            end()
        }
    }

    /// All claims up to the batch were sent to whom they concern.
    private func settle(_ batch: Int) {
        guard case .begun = state else { return collect(.settled(batch)) }
        seen.settle(batch: batch)
    }

    /// Sends what is no reminder.
    private func send(_ event: StreamEvent, _ bytes: StreamChunk) {
        guard case .begun(let sink) = state else { return collect(.other(event, bytes)) }
        sink.write(event, as: bytes)
    }

    private func write(
        _ reminder: Reminder, _ bytes: StreamChunk, claimed: MonotonicTime?, to sink: any EventSink
    ) {
        sink.write(.reminder(reminder), as: bytes)
        unacknowledged.append(Unacknowledged(id: reminder.id, lateness: reminder.lateness, claimed: claimed))
    }

    private func collect(_ event: Collected) {
        guard case .reserved(var collected) = state else { return }
        // More than that within the time that one query takes: the reader comes again, and gets them from the database.
        guard collected.count < Self.collectedLimit else { return end() }
        // Not while the state holds it too: that would copy it each time.
        state = .over
        collected.append(event)
        state = .reserved(collected)
    }

    private func drained() {
        guard !unacknowledged.isEmpty else { return }
        shard.taken(unacknowledged)
        unacknowledged = []
    }

    /// Gives up the stream, or the reservation.
    func end() {
        if case .over = state { return }
        state = .over
        shard.remove(self)
    }
}

/// What is written to an ``EventSink``.
package enum StreamEvent {
    /// A sign of life.
    case comment
    case reminder(Reminder)
    case test(ReminderContent)
    /// Slots in order.
    case changed(ArraySlice<Instant>)
    case rematched(Rematch)
    /// Whoever comes again has seen all up to this one, though a later one was written.
    case position(UUID?)
}

/// What events are written to: a response's stream, a subscription of Action Cable, or a test's recorder.
package protocol EventSink: AnyObject {
    /// Called when the kernel has taken all that was written.
    var drained: (() -> Void)? { get set }
    /// Called once, when it is over; not after ``finish()``.
    var closed: (() -> Void)? { get set }
    func write(_ piece: StreamChunk)
    /// As ``write(_:)``, for who writes events in another form than `piece`.
    func write(_ event: StreamEvent, as piece: StreamChunk)
    func finish()
    /// The device was erased: its reader need not come again.
    func revoke()
}

extension EventSink {
    package func revoke() { finish() }

    package func write(_ event: StreamEvent, as piece: StreamChunk) {
        write(piece)
    }
}

extension ResponseStream: EventSink {}
