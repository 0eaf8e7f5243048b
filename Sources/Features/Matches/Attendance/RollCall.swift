import FoundationEssentials
import Rooms

/// A recount of the people on this daemon, after other daemons have removed them. The daemon asks its loops.
///
/// The loops answer one after the other while people enter and leave, and not all reported events are written yet. An answer
/// includes what came before it. Events after it carry the number of the roll call, and are counted when they are written:
///
/// | written                               | counts                                                |
/// |---------------------------------------|-------------------------------------------------------|
/// | an event before its loop's answer     | no, the answer includes it                            |
/// | an event after the answer             | yes                                                   |
/// | the mark behind all answers           | from here on, the sum is who is present as written    |
struct RollCall: Sendable {
    let number: UInt32
    /// The number of connections. Negative for an attendee who has left before the answer of its loop arrived.
    private var connections: [Attendee: Int] = [:]
    /// Whether the mark was stored.
    private(set) var isComplete = false

    init(number: UInt32) {
        self.number = number
    }

    /// Adds the loops' answers. Called once.
    mutating func add(_ answers: [Attendee: Int]) {
        connections.merge(answers, uniquingKeysWith: +)
    }

    /// Counts a written event.
    mutating func take(_ event: PresenceEvent) {
        guard event.rollCall >= number else { return }
        let attendee = Attendee(room: event.room, claimedIdentity: event.claimedIdentity)
        connections[attendee, default: 0] += event.kind == .joined ? 1 : -1
    }

    /// Records that the mark of a call has been written or never will be, as everything before it.
    mutating func complete(_ call: UInt32) {
        if call == number { isComplete = true }
    }

    /// The attendees who are present, by room.
    var rooms: [[(attendee: Attendee, connections: Int)]] {
        let present = connections.filter { $0.value > 0 }.map { (attendee: $0.key, connections: $0.value) }
        return Array(Dictionary(grouping: present, by: \.attendee.room).values)
    }
}
