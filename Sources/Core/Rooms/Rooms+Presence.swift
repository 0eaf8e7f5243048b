import Sockets

/// Who is in matches' rooms, on all loops.
extension Rooms {
    /// Who came and went and was not told of yet: for a daemon that stops.
    package func takePresenceEvents() async -> [PresenceEvent] {
        var events: [PresenceEvent] = []
        for loop in loops { events += await loop.run { self.shard(on: $0).takePresenceEvents() } }
        return events
    }

    /// Who is in matches' rooms on this daemon, and how many connections that is of each: on each loop at a moment of its own. What came
    /// before that moment is reported by the time that this returns, and what comes after it bears the number, which is to grow from call
    /// to call.
    package func callRoll(_ number: UInt32) async -> [Attendee: Int] {
        var attendees: [Attendee: Int] = [:]
        for loop in loops {
            attendees.merge(await loop.run { self.shard(on: $0).callRoll(number) }, uniquingKeysWith: +)
        }
        return attendees
    }

    /// Matches' rooms that are open, those with somebody in them, and the connections in these.
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
