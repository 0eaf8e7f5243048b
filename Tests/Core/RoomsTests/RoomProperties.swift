import FoundationEssentials
import Testing

@testable import Rooms

/// Joins, leaves, messages and closes in random order: each member receives each message once, in order, and never its
/// own.
@Suite struct RoomProperties {
    /// A peer, and what it should have received according to a simple, independent model.
    private final class Member {
        let peer = RecordingPeer()
        let connection: Connection
        let room: UUID
        var ales = 0
        var cheers: [CheerKind: Int] = [:]
        var messages: [Int] = []

        init(_ room: UUID, in shard: RoomShard) {
            self.room = room
            connection = shard.enter(room, peer, policy: .match(capacity: .max))
        }
    }

    @Test("Random events have the results of a simple model", arguments: 0..<64)
    func reckoning(_ seed: UInt64) {
        var random = SplitMix(state: seed)
        let rooms = RoomsUnderTest()
        let ids = (0..<3).map { _ in UUID() }
        var members: [Member] = []
        var gone: [Member] = []
        var sent = 0
        for _ in 0..<600 {
            switch random.next(below: 12) {
            case 0, 1, 2:
                members.append(Member(ids[random.next(below: 3)], in: rooms.shard))
            case 3 where !members.isEmpty:
                let member = members.remove(at: random.next(below: members.count))
                // A member that leaves before the turn ends doesn't receive what was queued for it.
                member.connection.leave()
                gone.append(member)
            case 4...7 where !members.isEmpty:
                let sender = members[random.next(below: members.count)]
                // Half of the ales are plain, and the others of any kind.
                let kind = random.next(below: 2) == 0 ? CheerKind.plain : CheerKind.allCases[random.next(below: 6)]
                sender.connection.cheer(kind)
                for member in members where member.room == sender.room && member !== sender {
                    member.ales += 1
                    member.cheers[kind, default: 0] += 1
                }
            case 8 where !members.isEmpty:
                let sender = members[random.next(below: members.count)]
                sent += 1
                rooms.shard.publish(Numbered(number: sent), to: sender.room, from: sender.connection)
                for member in members where member.room == sender.room && member !== sender {
                    member.messages.append(sent)
                }
            case 9 where random.next(below: 8) == 0:
                let room = ids[random.next(below: 3)]
                rooms.shard.close([room])
                gone += members.filter { $0.room == room }
                members.removeAll { $0.room == room }
            case 10:
                if let member = gone.randomElement(using: &random) { member.connection.cheer() }
            default:
                rooms.loop.endTurn()
                for member in members {
                    #expect(member.peer.ales == member.ales)
                    for (kind, count) in member.cheers { #expect(member.peer.ales(of: kind) == count) }
                }
            }
            let occupied = Set(members.map(\.room)).count
            #expect(rooms.shard.occupancy == (occupied, members.count))
        }
        rooms.loop.endTurn()
        for member in members {
            #expect(member.peer.ales == member.ales)
            #expect(member.connection.isMember)
        }
        for member in members + gone { #expect(member.peer.messages == member.messages) }
        for member in gone {
            #expect(member.peer.ales <= member.ales)
            #expect(!member.connection.isMember)
        }
    }
}

/// Random numbers that are the same for the same seed.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func next(below bound: Int) -> Int { Int(next() % UInt64(bound)) }
}
