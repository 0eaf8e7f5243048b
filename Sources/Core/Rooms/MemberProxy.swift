import FoundationEssentials
import Sockets

/// The peer that represents a ``Member`` on the room's home loop, the event loop that owns the room. The proxy adds the
/// room's ales and messages to the ``LoopQueue`` to the member's loop. The home loop sends the queue when its turn
/// ends: when it has served all ready sockets.
final class MemberProxy: RoomPeer {
    private let member: MemberID
    private unowned let queue: LoopQueue
    /// The entries of the unsent batch to which more ales can be added.
    private var ales = AleEntries()

    init(for member: MemberID, at queue: LoopQueue) {
        self.member = member
        self.queue = queue
    }

    func deliver(ales count: Int, of kind: CheerKind, frame: SharedBytes) {
        queue.add(ales: count, of: kind, for: member, in: &ales)
    }

    func deliver(_ publication: Publication) {
        ales = AleEntries()
        queue.add(publication, for: member)
    }

    func roomClosed() {
        queue.proxies[member] = nil
        queue.add(.closed(member))
    }
}
