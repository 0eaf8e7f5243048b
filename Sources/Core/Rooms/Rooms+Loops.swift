package import FoundationEssentials
import Sockets

/// The assignment of rooms to loops, and each loop's shard.
extension Rooms {
    /// Returns the index of a room's home loop, the event loop that owns the room.
    package func homeIndex(of room: UUID) -> Int {
        let halves = withUnsafeBytes(of: room.uuid) {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        // The multiplication distributes ids that differ in a few bits, as made-up ids do. All bits affect the upper
        // bits of the product, which select the loop.
        let mixed = (halves.0 ^ halves.1) &* 0x9E37_79B9_7F4A_7C15
        return Int(((mixed >> 32) &* UInt64(loops.count)) >> 32)
    }

    func makeShard(on reactor: Reactor) -> RoomShard {
        RoomShard(
            on: reactor, OpenRooms(areAll: anyRoomIsOpen), aleFrames: aleFrames, grace: grace,
            queues: LoopQueues(
                RoomLoops(
                    own: reactor.index, homeIndex: { [weak self] in self?.homeIndex(of: $0) ?? 0 },
                    submit: { [weak self] in self?.submit(to: $0, $1) })),
            reporter: PresenceReporter(report))
    }

    private func submit(to index: Int, _ work: @escaping @Sendable (RoomShard) -> Void) {
        loops[index].submit { work(self.shard(on: $0)) }
    }

    func forEachHome(of rooms: [UUID], _ body: @escaping @Sendable (RoomShard, [UUID]) -> Void) {
        for (index, rooms) in Dictionary(grouping: rooms, by: homeIndex(of:)) {
            loops[index].submit { body(self.shard(on: $0), rooms) }
        }
    }
}
