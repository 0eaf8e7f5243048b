import FoundationEssentials
import Rooms

/// Who is there, told anew: the other daemons have taken this one's people back, and it asks its loops.
///
/// The loops answer one after the other, while people come and go, and what they have reported by then isn't all written. An answer holds what
/// came before it; what comes after it bears the call's number, and is counted as it is written:
///
/// | written                            | counts                                                  |
/// |------------------------------------|---------------------------------------------------------|
/// | what came before its loop's answer | no: the answer has it                                   |
/// | what came after                    | yes                                                     |
/// | the mark behind all answers        | from here on the sum is who is there by what is written |
struct RollCall: Sendable {
    let number: UInt32
    /// Connections. Below zero for who has left and whose loop's answer isn't in yet.
    private var connections: [Attendee: Int] = [:]
    /// Whether the mark has been written.
    private(set) var isComplete = false

    init(number: UInt32) {
        self.number = number
    }

    /// What the loops have answered; once.
    mutating func add(_ answers: [Attendee: Int]) {
        connections.merge(answers, uniquingKeysWith: +)
    }

    /// Who came or went has been written.
    mutating func take(_ event: PresenceEvent) {
        guard event.rollCall >= number else { return }
        let attendee = Attendee(room: event.room, claimedIdentity: event.claimedIdentity)
        connections[attendee, default: 0] += event.kind == .joined ? 1 : -1
    }

    /// The mark of a call has been written, or will never be: what was before it, too.
    mutating func complete(_ call: UInt32) {
        if call == number { isComplete = true }
    }

    /// Those who are there, room by room.
    var rooms: [[(attendee: Attendee, connections: Int)]] {
        let present = connections.filter { $0.value > 0 }.map { (attendee: $0.key, connections: $0.value) }
        return Array(Dictionary(grouping: present, by: \.attendee.room).values)
    }
}
