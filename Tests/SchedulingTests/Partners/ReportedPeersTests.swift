import Basics
import FoundationEssentials
import Rooms
import Testing

@testable import Scheduling

@Suite struct ReportedPeersTests {
    private let room = UUID()
    private let other = UUID()
    private let ada = UUID()
    private var peers = ReportedPeers()

    /// Connections by the room and by who they say they are.
    private var rooms: [UUID: [UUID?: Int]] {
        Dictionary(
            uniqueKeysWithValues: peers.rooms.map { room in
                let connections = peers.connections(in: room).map { ($0.claimedIdentity, $0.count) }
                return (room, Dictionary(uniqueKeysWithValues: connections))
            })
    }

    private func event(_ kind: PresenceEvent.Kind, _ room: UUID, _ identity: UUID? = nil) -> PresenceEvent {
        PresenceEvent(kind, room: room, claimedIdentity: identity, peers: 1, at: .now())
    }

    @Test("A report counts once, and nothing stays of who has left")
    mutating func reports() {
        for _ in 0..<2 {
            peers.take([event(.joined, room, ada), event(.joined, room, ada), event(.joined, other)], of: 1)
        }
        #expect(rooms == [room: [ada: 2], other: [nil: 1]])
        peers.take([event(.left, other), event(.left, room, ada)], of: 2)
        #expect(rooms == [room: [ada: 1]])
    }

    @Test("A report counts as a whole, as in the database, and nobody leaves who isn't there")
    mutating func overtaken() {
        peers.take([event(.left, room, ada), event(.joined, room, ada), event(.left, other)], of: 1)
        #expect(rooms.isEmpty)
        peers.take([event(.joined, other)], of: 2)
        #expect(rooms == [other: [nil: 1]])
    }

    @Test("Nothing stays of a room that closed, until somebody comes anew")
    mutating func closed() {
        peers.take([event(.joined, room, ada), event(.joined, room), event(.joined, other)], of: 1)
        peers.take([event(.joined, room), event(.closed, room)], of: 2)
        #expect(rooms == [other: [nil: 1]])
        peers.take([event(.closed, other), event(.joined, other, ada)], of: 3)
        #expect(rooms == [other: [ada: 1]])
    }
}
