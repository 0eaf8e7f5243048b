import Basics
import Domain
import FoundationEssentials
import Rooms
import Schedule
import Server
import Sockets
import Wire

/// A message published to event streams.
enum StreamMessage: Message {
    /// A new reminder. All reminders up to the batch `settled` were sent. `claimed` is the time at which this daemon
    /// learned of the claim.
    case reminder(Reminder, settled: Int, claimed: MonotonicTime)
    /// All of a device's reminders whose task hasn't started, in claim order. Up to the claim `newest`, the device has
    /// no others.
    case caughtUp([Reminder], newest: Int, claimed: MonotonicTime)
    case slots(ChangedSlots)
    /// One of the device's own slots has changed.
    case ownSlot(Instant)
    /// A test reminder that an operator sends.
    case test(ReminderContent)
    /// The device's task moves to another room.
    case rematched(Rematch)
    /// A comment that shows that the stream is alive.
    case comment
    /// The reader must reconnect.
    case restart
    /// The device was erased.
    case erased
}

/// The slots that have opened or closed, in order of time.
struct ChangedSlots: Sendable {
    let slots: [Instant]
    /// The devices that already know of changes, with the slots of these changes.
    let known: [DeviceID: Set<Instant>]
    /// The current time, which decides the position of a moving window.
    let now: Instant

    /// Returns the slots to report to a stream, with their events. These are the slots in the stream's window whose
    /// change its device doesn't know. Returns `nil` if there are none.
    ///
    /// - Parameter publication: The publication of these slots. Most streams have one of a few windows, so the events
    ///   of a window are encoded once for a loop.
    func changes(
        for device: DeviceID, showing window: ChangeWindow, as publication: Publication
    ) -> (slots: ArraySlice<Instant>, events: StreamChunk)? {
        let range = window.range(in: slots, at: now)
        guard !range.isEmpty else { return nil }
        if let known = known[device] {
            let rest = slots[range].filter { !known.contains($0) }
            return rest.isEmpty ? nil : (rest[...], StreamChunk { rest.encode(into: &$0) })
        }
        return (slots[range], publication.form { Pieces() }.piece(of: range, in: slots))
    }

    /// The events, encoded once for all streams that report the same slots. Must be used on one loop.
    private final class Pieces {
        private var pieces: [Range<Int>: StreamChunk] = [:]

        func piece(of range: Range<Int>, in slots: [Instant]) -> StreamChunk {
            if let piece = pieces[range] { return piece }
            let piece = StreamChunk { slots[range].encode(into: &$0) }
            pieces[range] = piece
            return piece
        }
    }
}

extension Sequence<Instant> {
    /// Writes the changed slots as events.
    func encode(into buffer: inout [UInt8]) {
        for slot in self {
            ServerSentEvent(event: "schedule", data: #"{"startsAt":"\#(slot)"}"#).encode(into: &buffer)
        }
    }
}

extension Rematch {
    func encode(into buffer: inout [UInt8]) {
        ServerSentEvent(event: "rematched", data: String(decoding: json, as: UTF8.self)).encode(into: &buffer)
    }
}

extension Reminder {
    /// Writes the reminder as an event.
    func encode(into buffer: inout [UInt8]) {
        ServerSentEvent(id: id.text, event: "reminder", data: payload).encode(into: &buffer)
    }
}
