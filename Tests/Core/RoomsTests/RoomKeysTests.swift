import FoundationEssentials
import Sockets
import Testing

@testable import Rooms

@Suite struct RoomKeysTests {
    @Test("Different kinds, ids or secrets give different keys")
    func keys() throws {
        let keys = RoomKeys()
        let ada = Array("ada".utf8)
        #expect(keys.room(.device, ada) == keys.room(.device, ada))
        let others = RoomKeys()
        let rooms = [
            keys.room(.device, ada), keys.room(.device, Array("bob".utf8)), keys.room(.day, ada), keys.room(.device),
            keys.room(.nearDays), keys.room(.allStreams), others.room(.device, ada),
        ]
        #expect(Set(rooms).count == rooms.count)
        let shared = [RoomKeys(), RoomKeys()]
        for keys in shared { keys.share([1, 2, 3]) }
        #expect(shared[0].room(.device, ada) == shared[1].room(.device, ada))
        #expect(rooms.allSatisfy { $0.uuid.6 >> 4 == 8 && $0.uuid.8 >> 6 == 2 })
    }
}

/// The rooms of all loops together.
@Suite struct RoomsTests {
    @Test("Subscribers on every loop receive messages in order")
    func subscriptions() async throws {
        let group = try EventLoopGroup(count: 2)
        for loop in group.loops { await loop.start() }
        let rooms = Rooms(loops: group.loops, anyRoomIsOpen: false, aleFrame: { _ in [] }, report: { _ in })
        let room = UUID()
        #expect(rooms.hasNoSubscribers)
        for loop in group.loops {
            await loop.run { reactor in
                let state = LoopState.shared.value(on: reactor) { LoopState() }
                state.connection = rooms.subscribe(state.peer, to: room, on: reactor)
            }
        }
        #expect(!rooms.hasNoSubscribers)
        rooms.publish((1...5).map { (Numbered(number: $0), $0 == 3 ? UUID() : room) })
        for loop in group.loops {
            await loop.run { reactor in
                let state = LoopState.shared.value(on: reactor) { LoopState() }
                #expect(state.peer.messages == [1, 2, 4, 5])
                for _ in 0..<2 { state.connection.map(rooms.unsubscribe) }
            }
        }
        #expect(rooms.hasNoSubscribers)
        #expect(await rooms.census() == (0, 0, 0))
        for loop in group.loops { await loop.stop() }
    }

    @Test("A room always has the same home, and homes are spread evenly")
    func homes() throws {
        let group = try EventLoopGroup(count: 4)
        let rooms = Rooms(loops: group.loops, anyRoomIsOpen: false, aleFrame: { _ in [] }, report: { _ in })
        var counts = [0, 0, 0, 0]
        for number in 0..<4000 {
            var bytes = UUID(uuidString: "6F9619FF-8B86-D011-B42D-00CF4FC964FF")?.uuid ?? UUID().uuid
            bytes.15 = UInt8(number & 0xFF)
            bytes.14 = UInt8(number >> 8)
            let id = UUID(uuid: bytes)
            #expect(rooms.homeIndex(of: id) == rooms.homeIndex(of: id))
            counts[rooms.homeIndex(of: id)] += 1
        }
        #expect(counts.allSatisfy { $0 > 700 })
    }

    private final class LoopState {
        static let shared = LoopLocal<LoopState>()
        let peer = RecordingPeer()
        var connection: Connection?
    }
}
