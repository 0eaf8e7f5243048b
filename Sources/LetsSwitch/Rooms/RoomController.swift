import FoundationEssentials
import Server
import Sockets
import Wire

/// The rooms of one event loop: which are open, who is in them, what a message means.
final class RoomController: TurnEndHandler {
    /// Rooms that are open, besides those that `--open-rooms` makes of any UUID.
    private var open: Set<UUID> = []
    private var map = RoomMap()
    /// Rooms with ales in this turn.
    private var cheering: [Room] = []
    private var refusals = RefusalMemory()
    private let anyRoomIsOpen: Bool
    private let roomSize: Int
    private let metrics: ProductMetrics

    /// Frames that are the same for everybody, on this loop: encoded once, and no other thread counts their references.
    private let handshakeFrame = SharedBytes(RoomFrame.handshake)
    /// A burst of ales leaves as one run of this frame.
    private let aleFrame = SharedBytes(RoomFrame.aleResponse, copies: 64)

    init(anyRoomIsOpen: Bool, roomSize: Int, metrics: ProductMetrics) {
        self.metrics = metrics
        self.anyRoomIsOpen = anyRoomIsOpen
        self.roomSize = roomSize
    }

    /// Rooms with somebody in them, and how many are in them.
    var occupancy: (rooms: Int, connections: Int) { (map.roomCount, map.connectionCount) }
    var openCount: Int { open.count }

    // MARK: Open and closed

    func open(_ rooms: [UUID]) {
        for room in rooms {
            open.insert(room)
            refusals.forget(room)
        }
    }

    /// The rooms' time is over: who is in them is told so.
    func close(_ rooms: [UUID]) {
        for room in rooms {
            open.remove(room)
            map.deliver(aleFrame, in: map.room(room))
            for connection in map.removeRoom(room) {
                connection.webSocket.close(.normalClosure, "the room is over")
            }
        }
    }

    // MARK: Admission

    enum Standing {
        case open
        case refused(Abort)
        /// The database has to be asked.
        case unknown
    }

    func standing(of room: UUID, at now: MonotonicTime) -> Standing {
        guard anyRoomIsOpen || open.contains(room) else {
            return refusals.refusal(of: room, at: now).map(Standing.refused) ?? .unknown
        }
        guard map.count(of: room) < roomSize else {
            metrics.turnedAway.add(.roomSize)
            return .refused(
                Abort(.conflict, code: "room_full", reason: "The room has \(roomSize) connections, its limit."))
        }
        return .open
    }

    /// Remembers for a moment what the database said of a room that nobody can enter.
    func remember(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        refusals.remember(state, of: room, at: now)
    }

    // MARK: Peers

    func enter(_ webSocket: WebSocket, _ room: UUID) -> Connection {
        let connection = Connection(webSocket, in: map.room(room), of: self)
        guard case .open = standing(of: room, at: webSocket.reactor.now) else {
            // It closed, or filled, while the connection was on its way.
            webSocket.close(.policyViolation, "the room is full or over")
            return connection
        }
        map.join(connection)
        webSocket.send(frame: handshakeFrame)
        return connection
    }

    func left(_ connection: Connection) {
        map.leave(connection)
    }

    func received(_ message: UnsafeRawBufferPointer, from sender: Connection) {
        switch RoomMessage(message) {
        case .ale(sender.room.id):
            cheer(from: sender)
        case .ale:
            sender.webSocket.send(RoomFrame.error("The id of an ale is that of the room one is in."), .binary)
        case .unknown(let reason):
            sender.webSocket.send(RoomFrame.error(reason), .binary)
        }
    }
    private func cheer(from sender: Connection) {
        if sender.room.ales == 0 {
            if cheering.isEmpty { sender.webSocket.reactor.callAtEndOfTurn(self) }
            cheering.append(sender.room)
        }
        sender.room.ales += 1
        sender.exemptAles += 1
    }

    func turnEnds() {
        for room in cheering { map.deliver(aleFrame, in: room) }
        cheering.removeAll(keepingCapacity: true)
    }
}
