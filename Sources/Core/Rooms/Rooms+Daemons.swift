import FoundationEssentials
import Sockets

/// Exchanges ales and the members of rooms with other daemons, for the rooms of all loops.
extension Rooms {
    /// Starts the exchange. Each loop calls `report` with the members of its rooms, and then with the ales and changed
    /// members of each turn.
    func join(_ report: @escaping @Sendable (RoomNews) -> Void) {
        for loop in loops { loop.submit { self.shard(on: $0).join(report) } }
    }

    /// Ends the exchange, because this daemon leaves the bus.
    func part() async {
        for loop in loops { await loop.run { self.shard(on: $0).part() } }
    }

    /// Stores the members of these rooms on all other daemons together.
    func setElsewhere(_ rooms: [MembersOfRoom]) {
        for (index, rooms) in Dictionary(grouping: rooms, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).setElsewhere(rooms) }
        }
    }

    /// Delivers other daemons' ales to all members of their rooms.
    func deliver(_ ales: [RoomNews.Ales]) {
        for (index, ales) in Dictionary(grouping: ales, by: { homeIndex(of: $0.room) }) {
            loops[index].submit { self.shard(on: $0).deliver(ales) }
        }
    }
}
