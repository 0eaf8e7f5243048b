import FoundationEssentials
import Sockets

/// A representative of a ``Member`` on its room's home loop. It passes the room's deliveries to the member's loop at
/// the end of the turn.
final class MemberProxy: RoomPeer {
    private let member: MemberID
    private unowned let lane: Lane
    /// The entries of the mail to which more ales can be added.
    private var ales = AleEntries()

    init(for member: MemberID, at lane: Lane) {
        self.member = member
        self.lane = lane
    }

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        lane.add(ales: count, of: kind, for: member, in: &ales)
    }

    func deliver(_ publication: Publication) {
        ales = AleEntries()
        lane.add(publication, for: member)
    }

    func roomClosed() {
        lane.proxies[member] = nil
        lane.add(.closed(member))
    }
}
