import Basics
import Domain
import FoundationEssentials
import Rooms
import Scheduling
import Server
import Sockets
import Wire

/// What is published to event streams.
enum StreamMessage: Message {
    /// A reminder that fired; of the batch `settled` and all before it everything was sent. `claimed` is when the claim was known here.
    case reminder(Reminder, settled: Int, claimed: MonotonicTime)
    /// All of a device's reminders whose task has not started, in firing order, and that up to the claim `newest` there are no others.
    case caughtUp([Reminder], newest: Int, claimed: MonotonicTime)
    case slots(ChangedSlots)
    /// A slot has changed for the device whose room it is.
    case ownSlot(Instant)
    /// A reminder that nobody has asked for, to see whether it comes.
    case test(ReminderContent)
    /// The device's person goes on in another room.
    case rematched(Rematch)
    /// A sign of life.
    case comment
    /// The reader is to come again.
    case restart
    /// The device whose room it is was erased.
    case erased
}

/// Slots that have opened or closed, in order.
struct ChangedSlots: Sendable {
    let slots: [Instant]
    /// Who knows of which of them.
    let known: [DeviceID: Set<Instant>]
    /// For what is near.
    let now: Instant

    /// What a stream is told: of the slots those that it shows and whose change its device doesn't know, with their events; `nil` if there
    /// are none. Most streams show one of a few windows.
    ///
    /// - Parameter publication: What these are published as: the events are made once for all of a loop.
    func told(
        _ device: DeviceID, showing window: ChangeWindow, as publication: Publication
    ) -> (slots: ArraySlice<Instant>, events: StreamChunk)? {
        let range = window.range(in: slots, at: now)
        guard !range.isEmpty else { return nil }
        if let known = known[device] {
            let rest = slots[range].filter { !known.contains($0) }
            return rest.isEmpty ? nil : (rest[...], StreamChunk { rest.encode(into: &$0) })
        }
        return (slots[range], publication.form { Pieces() }.piece(of: range, in: slots))
    }

    /// The events, encoded once for all who show the same part of the slots. On a loop.
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
    /// The slots' changes as events.
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
    /// The reminder as an event.
    func encode(into buffer: inout [UInt8]) {
        ServerSentEvent(id: id.text, event: "reminder", data: payload).encode(into: &buffer)
    }
}
