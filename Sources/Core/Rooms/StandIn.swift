import FoundationEssentials
import Sockets

/// Is in a room, at its home, for a ``Member`` on some loop: what it is told goes there at the end of the turn.
final class StandIn: RoomPeer {
    private let member: MemberID
    private unowned let lane: Lane
    /// Where its ales add up until they are carried.
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
        lane.standIns[member] = nil
        lane.add(.closed(member))
    }
}
