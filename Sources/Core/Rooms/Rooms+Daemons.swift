import FoundationEssentials
import Sockets

/// What other daemons are told, and tell, of all loops' rooms.
extension Rooms {
    /// There are other daemons: `tell` is called with who is in which room, and from then on with the news of each loop's turn, on
    /// that loop.
    func join(_ tell: @escaping @Sendable (RoomNews) -> Void) {
        for loop in loops { loop.submit { self.shard(on: $0).join(tell) } }
    }

    /// There are none any more.
    func part() async {
        for loop in loops { await loop.run { self.shard(on: $0).part() } }
    }

    /// Who is in these rooms on other daemons, all of them together.
    func setElsewhere(_ rooms: [MembersOfRoom]) {
        for (index, rooms) in Dictionary(grouping: rooms, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).setElsewhere(rooms) }
        }
    }

    /// Gives ales of other daemons to everybody in their rooms.
    func deliver(_ ales: [RoomNews.Ales]) {
        for (index, ales) in Dictionary(grouping: ales, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).deliver(ales) }
        }
    }
}
