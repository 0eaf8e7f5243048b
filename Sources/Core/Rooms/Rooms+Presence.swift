import Sockets

/// The people in matches' rooms, on all loops.
extension Rooms {
    /// Returns the events that aren't reported yet, for a daemon that stops.
    package func takePresenceEvents() async -> [PresenceEvent] {
        var events: [PresenceEvent] = []
        for loop in loops { events += await loop.run { self.shard(on: $0).takePresenceEvents() } }
        return events
    }

    /// Returns the people in matches' rooms on this daemon, with their number of connections. Each loop answers at its
    /// own moment. Events before that moment are reported before the call returns, and later events carry `number`. The
    /// number must grow from call to call.
    package func callRoll(_ number: UInt32) async -> [Attendee: Int] {
        var attendees: [Attendee: Int] = [:]
        for loop in loops {
            attendees.merge(await loop.run { self.shard(on: $0).callRoll(number) }, uniquingKeysWith: +)
        }
        return attendees
    }

    /// Returns the number of open matches' rooms, of those with members, and of their connections.
    package func census() async -> (open: Int, occupied: Int, connections: Int) {
        var sum = (open: 0, occupied: 0, connections: 0)
        for loop in loops {
            let part = await loop.run { reactor in
                let shard = self.shard(on: reactor)
                return (shard.openCount, shard.occupancy.rooms, shard.occupancy.connections)
            }
            sum = (sum.open + part.0, sum.occupied + part.1, sum.connections + part.2)
        }
        return sum
    }
}
