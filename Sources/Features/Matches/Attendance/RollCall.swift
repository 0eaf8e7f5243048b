import FoundationEssentials
import Rooms

/// A recount of the attendees on this daemon, after other daemons have removed them. The daemon asks its loops.
///
/// The loops answer one after the other. While they answer, members enter and leave, and not all reported events are
/// written yet. An answer includes the events of its loop before it. Events after the answer carry the number of the
/// roll call, and are counted when they are written:
///
/// | written                               | counted                                      |
/// |---------------------------------------|----------------------------------------------|
/// | an event before its loop's answer     | no, the answer includes it                   |
/// | an event after the answer             | yes                                          |
/// | the mark after all answers            | the sum now equals the written attendance    |
struct RollCall: Sendable {
    let number: UInt32
    /// The number of connections of each attendee. Negative if an attendee has left before the answer of its loop
    /// arrived.
    private var connections: [Attendee: Int] = [:]
    /// Whether the mark was written.
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

    /// Completes the roll call with this number. The mark, and all entries before it, are written or will never be.
    mutating func complete(_ call: UInt32) {
        if call == number { isComplete = true }
    }

    /// The attendees who are present, by room.
    var rooms: [[(attendee: Attendee, connections: Int)]] {
        let present = connections.filter { $0.value > 0 }.map { (attendee: $0.key, connections: $0.value) }
        return Array(Dictionary(grouping: present, by: \.attendee.room).values)
    }
}
