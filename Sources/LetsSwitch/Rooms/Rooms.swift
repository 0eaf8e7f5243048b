import FoundationEssentials
import Server
import Sockets

/// All rooms: finds the event loop that a room lives on. May be used from anywhere.
final class Rooms: Sendable {
    private let loops: [EventLoop]
    private let key = LoopLocal<RoomController>()
    private let anyRoomIsOpen: Bool
    private let roomSize: Int
    private let metrics: RoomMetrics
    private let report: (@Sendable ([PeerEvent]) -> Void)?

    /// - Parameter report: Told who comes and goes, many at a time; called on a loop.
    init(
        loops: [EventLoop], anyRoomIsOpen: Bool, roomSize: Int, metrics: RoomMetrics,
        report: (@Sendable ([PeerEvent]) -> Void)? = nil
    ) {
        self.report = report
        self.metrics = metrics
        self.loops = loops
        self.anyRoomIsOpen = anyRoomIsOpen
        self.roomSize = roomSize
    }

    /// The index of the loop that a room lives on.
    func loopIndex(of room: UUID) -> Int {
        let halves = withUnsafeBytes(of: room.uuid) {
            ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        }
        // The multiplication spreads ids that differ in a few bits only, as made-up ones do; the upper bits are the best.
        let mixed = (halves.0 ^ halves.1) &* 0x9E37_79B9_7F4A_7C15
        return Int((mixed >> 32) % UInt64(loops.count))
    }

    /// The rooms of a loop. On that loop.
    func controller(on reactor: Reactor) -> RoomController {
        key.value(on: reactor) {
            RoomController(anyRoomIsOpen: anyRoomIsOpen, roomSize: roomSize, metrics: metrics, report: report)
        }
    }

    /// Opens rooms. A peer that connects because of a reminder sent after this call finds its room open.
    func open(_ rooms: [UUID]) {
        forEachLoop(of: rooms) { $0.open($1) }
    }

    /// Closes rooms, and tells who is in them.
    func close(_ rooms: [UUID]) {
        forEachLoop(of: rooms) { $0.close($1) }
    }

    private func forEachLoop(of rooms: [UUID], _ body: @escaping @Sendable (RoomController, [UUID]) -> Void) {
        for (index, rooms) in Dictionary(grouping: rooms, by: loopIndex(of:)) {
            loops[index].submit { body(self.controller(on: $0), rooms) }
        }
    }

    /// Remembers for a moment that a room can't be entered.
    func remember(_ state: RoomState, of room: UUID) {
        loops[loopIndex(of: room)].submit { self.controller(on: $0).remember(state, of: room, at: $0.now) }
    }

    /// Who came and went and was not told of yet: for a daemon that stops.
    func takeEvents() async -> [PeerEvent] {
        var events: [PeerEvent] = []
        for loop in loops { events += await loop.run { self.controller(on: $0).takeEvents() } }
        return events
    }

    /// Rooms that are open, rooms with somebody in them, and connections in rooms.
    func census() async -> (open: Int, occupied: Int, connections: Int) {
        var sum = (open: 0, occupied: 0, connections: 0)
        for loop in loops {
            let part = await loop.run { reactor in
                let controller = self.controller(on: reactor)
                return (controller.openCount, controller.occupancy.rooms, controller.occupancy.connections)
            }
            sum = (sum.open + part.0, sum.occupied + part.1, sum.connections + part.2)
        }
        return sum
    }
}
