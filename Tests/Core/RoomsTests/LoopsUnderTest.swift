import Basics
import FoundationEssentials

@testable import Rooms

/// The rooms of several loops, without real loops. The test decides when a turn ends, and when a batch arrives at
/// another loop.
final class LoopsUnderTest {
    /// The work submitted to each loop, and the joins and leaves that were reported.
    private final class Post: @unchecked Sendable {
        // Sendable holds: manual loops are called by one test, on one thread.
        var waiting: [[@Sendable (RoomShard) -> Void]]
        var events: [PresenceEvent] = []

        init(_ count: Int) {
            waiting = Array(repeating: [], count: count)
        }
    }

    let loops: [ManualLoop]
    let shards: [RoomShard]
    private let post: Post

    init(_ count: Int, anyRoomIsOpen: Bool = true) {
        let post = Post(count)
        let loops = (0..<count).map { _ in ManualLoop() }
        shards = loops.indices.map { index in
            RoomShard(
                on: loops[index], OpenRooms(areAll: anyRoomIsOpen),
                aleFrames: CheerKind.allCases.map { _ in [0x82, 0] }, grace: .seconds(15),
                queues: LoopQueues(
                    RoomLoops(
                        own: index, homeIndex: { Self.home(of: $0, of: count) },
                        submit: { post.waiting[$0].append($1) })),
                reporter: PresenceReporter { post.events += $0 })
        }
        self.loops = loops
        self.post = post
    }

    private static func home(of room: UUID, of count: Int) -> Int { Int(room.uuid.15) % count }

    /// Returns a room whose home is this loop.
    func room(on loop: Int) -> UUID {
        while true {
            let room = UUID()
            if Self.home(of: room, of: loops.count) == loop { return room }
        }
    }

    func home(of room: UUID) -> RoomShard { shards[Self.home(of: room, of: shards.count)] }

    var reported: [PresenceEvent] { post.events }

    /// Returns the number of batches on their way to a loop, plus the requests of other loops to send the next batch.
    func waiting(for loop: Int) -> Int { post.waiting[loop].count }

    func endTurn(of loop: Int) {
        loops[loop].endTurn()
    }

    /// Delivers the oldest item on its way to a loop, if there is any, in its own turn.
    func arrive(at loop: Int) {
        guard !post.waiting[loop].isEmpty else { return }
        post.waiting[loop].removeFirst()(shards[loop])
        loops[loop].endTurn()
    }

    /// Runs until nothing is on its way and no turn has work to do.
    func settle() {
        repeat {
            for loop in loops.indices {
                endTurn(of: loop)
                arrive(at: loop)
            }
        } while loops.contains { $0.isBusy } || post.waiting.contains { !$0.isEmpty }
    }

    func advance(by time: Duration) {
        for loop in loops { loop.advance(by: time) }
        settle()
    }
}
