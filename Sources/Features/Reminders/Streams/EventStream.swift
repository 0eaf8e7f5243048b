import Basics
package import Domain
package import FoundationEssentials
import Rooms
package import Schedule
package import Server
import Sockets
import Wire

/// One `GET /reminders` stream. It subscribes to the room of the device's reminders and to the rooms of its slots.
///
/// ```
/// reserved (collects events) ──► begun: backlog from the database, collected events, new events
///     ├──► revoked ────────────────────┴──► over
///     └─────────────────────────────────────▲
/// ```
///
/// The stream is reserved before the backlog is read from the database, so that it misses no reminder. A reminder that
/// is both in the backlog and collected is sent once.
final class EventStream: RoomListener {
    /// The maximum number of events that are collected while the backlog is read.
    private static let collectedLimit = 1024

    let device: DeviceID
    /// The slots whose changes the stream reports.
    let window: ChangeWindow
    private unowned let shard: EventStreamShard
    /// The stream's subscriptions to rooms. Only ``EventStreamShard`` sets them.
    var connections: [Connection] = []
    private var state = State.reserved([])
    private var seen = SeenReminders()
    /// The last reminder that was sent in order. A reader that resumes after it misses none.
    private var lastInOrder: UUID?
    private var unacknowledged: [Unacknowledged] = []

    private enum State {
        case reserved([Collected])
        /// The device was erased before the stream began.
        case revoked
        case begun(any EventTransport)
        case over
    }

    /// An event that arrived before the stream began.
    private enum Collected {
        case reminder(Reminder, StreamChunk, claimed: MonotonicTime?, settled: Int)
        case settled(Int)
        case other(StreamEvent, StreamChunk)
    }

    /// A written reminder that the kernel hasn't taken yet.
    struct Unacknowledged {
        let id: UUID
        /// The lateness when the reminder was claimed, in seconds.
        let lateness: Double
        /// The time at which this daemon learned of the claim. `nil` for a reminder from the backlog.
        let claimed: MonotonicTime?
    }

    init(of device: DeviceID, window: ChangeWindow, in shard: EventStreamShard) {
        self.device = device
        self.window = window
        self.shard = shard
    }

    // MARK: Publications

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
                // The earlier batches were already sent.
                send(reminder, piece, claimed: claimed, settled: Reminder.batch(of: reminder.seq) - 1)
            }
            settle(newest)
        case .slots(let changes):
            if let (slots, piece) = changes.changes(for: device, showing: window, as: publication) {
                send(.changed(slots), piece)
            }
        case .ownSlot(let slot): send(.changed([slot]), publication.form { StreamChunk { [slot].encode(into: &$0) } })
        case .test(let content):
            let piece = publication.form {
                // The event has no id, so that the reader's position doesn't change.
                StreamChunk { ServerSentEvent(event: "reminder", data: content.json).encode(into: &$0) }
            }
            send(.test(content), piece)
        case .rematched(let rematch):
            send(.rematched(rematch), publication.form { StreamChunk { rematch.encode(into: &$0) } })
        case .comment: send(.comment, publication.form { StreamChunk { ServerSentEvent.comment("", into: &$0) } })
        case .restart:
            if case .begun(let transport) = state { transport.finish() }
            end()
        case .erased:
            switch state {
            case .reserved: state = .revoked
            case .begun(let transport):
                transport.revoke()
                end()
            case .revoked, .over: break
            }
        }
    }

    // MARK: Sending

    /// Starts to write to `transport`: first a comment, then the backlog, then the collected events, and then each new
    /// event.
    func begin(_ transport: any EventTransport, backlog: ReminderBacklog) {
        if case .revoked = state {
            transport.revoke()
            return end()
        }
        guard case .reserved(let collected) = state else { return transport.finish() }
        state = .begun(transport)
        transport.closed = { [weak self] in self?.end() }
        transport.drained = { [weak self] in self?.drained() }
        transport.write(.comment, as: StreamChunk { ServerSentEvent.comment("reminders", into: &$0) })
        lastInOrder = backlog.seen.last?.id
        // The reader already has these reminders. The daemon that sent them may have died before it acknowledged them.
        shard.taken(
            backlog.seen.filter { $0.state == .pending }.map { Unacknowledged(id: $0.id, lateness: 0, claimed: nil) })
        for reminder in backlog.unseen {
            write(reminder, StreamChunk { reminder.encode(into: &$0) }, claimed: nil, to: transport)
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
        // The backlog is too long for one response. The reader reconnects for the rest.
        if !backlog.isComplete {
            transport.finish()
            end()
        }
    }

    /// Sends a reminder, unless the reader already has it.
    ///
    /// - Parameter settled: All reminders up to this batch were sent.
    private func send(_ reminder: Reminder, _ bytes: StreamChunk, claimed: MonotonicTime?, settled: Int) {
        guard case .begun(let transport) = state else {
            return collect(.reminder(reminder, bytes, claimed: claimed, settled: settled))
        }
        switch seen.take(reminder.seq, settled: settled) {
        case .seen: break
        case .inOrder:
            write(reminder, bytes, claimed: claimed, to: transport)
            lastInOrder = reminder.id
        case .early:
            write(reminder, bytes, claimed: claimed, to: transport)
            // The reader must not resume after this reminder, because an earlier one may follow. An id alone isn't an
            // event (HTML, 9.2.6).
            let last = lastInOrder?.text ?? ""
            transport.write(.position(lastInOrder), as: StreamChunk { $0.append(contentsOf: "id: \(last)\n\n".utf8) })
        case .overflow:
            transport.finish()
            end()
        }
    }

    /// Records that all reminders up to the batch were sent.
    private func settle(_ batch: Int) {
        guard case .begun = state else { return collect(.settled(batch)) }
        seen.settle(batch: batch)
    }

    /// Sends an event that isn't a reminder.
    private func send(_ event: StreamEvent, _ bytes: StreamChunk) {
        guard case .begun(let transport) = state else { return collect(.other(event, bytes)) }
        transport.write(event, as: bytes)
    }

    private func write(
        _ reminder: Reminder, _ bytes: StreamChunk, claimed: MonotonicTime?, to transport: any EventTransport
    ) {
        transport.write(.reminder(reminder), as: bytes)
        unacknowledged.append(Unacknowledged(id: reminder.id, lateness: reminder.lateness, claimed: claimed))
    }

    private func collect(_ event: Collected) {
        guard case .reserved(var collected) = state else { return }
        // Too many events arrived during the query. The reader reconnects and gets them from the database.
        guard collected.count < Self.collectedLimit else { return end() }
        // Empties the state first. Otherwise the state would share the array, and each append would copy it.
        state = .over
        collected.append(event)
        state = .reserved(collected)
    }

    private func drained() {
        guard !unacknowledged.isEmpty else { return }
        shard.taken(unacknowledged)
        unacknowledged = []
    }

    /// Ends the stream or its reservation.
    func end() {
        if case .over = state { return }
        state = .over
        shard.remove(self)
    }
}

/// An event that is written to an ``EventTransport``.
package enum StreamEvent {
    /// A comment that shows that the stream is alive.
    case comment
    case reminder(Reminder)
    case test(ReminderContent)
    /// Changed slots, in order of time.
    case changed(ArraySlice<Instant>)
    case rematched(Rematch)
    /// The position to resume from, if the last reminder was early.
    case position(UUID?)
}

/// The transport of an event stream: the body of an HTTP response, an Action Cable subscription, or a test's recorder.
package protocol EventTransport: AnyObject {
    /// Called when the kernel has accepted all written bytes.
    var drained: (() -> Void)? { get set }
    /// Called once when the transport ends, but not after ``finish()``.
    var closed: (() -> Void)? { get set }
    func write(_ piece: StreamChunk)
    /// Writes an event. `piece` is the event as server-sent event. A transport with another format, such as Action
    /// Cable, encodes `event` itself and ignores `piece`.
    func write(_ event: StreamEvent, as piece: StreamChunk)
    func finish()
    /// Ends the transport because the device was erased. Unlike after ``finish()``, the client must not reconnect.
    func revoke()
}

extension EventTransport {
    package func revoke() { finish() }

    package func write(_ event: StreamEvent, as piece: StreamChunk) {
        write(piece)
    }
}

extension ResponseStream: EventTransport {}
