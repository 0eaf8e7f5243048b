import FoundationEssentials
import Observability
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
    private let metrics: RoomMetrics
    /// Told who comes and goes.
    private let report: (@Sendable ([PeerEvent]) -> Void)?
    private var events: [PeerEvent] = []

    /// Frames that are the same for everybody, on this loop: encoded once, and no other thread counts their references.
    private let handshakeFrame = SharedBytes(RoomFrame.handshake)
    /// A burst of ales leaves as one run of this frame.
    private let aleFrame = SharedBytes(RoomFrame.aleResponse, copies: 64)

    init(
        anyRoomIsOpen: Bool, roomSize: Int, metrics: RoomMetrics, report: (@Sendable ([PeerEvent]) -> Void)? = nil
    ) {
        self.report = report
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
            map.deliver(aleFrame, in: map.room(room).room)
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
        guard isOpen(room) else {
            return refusals.refusal(of: room, at: now).map(Standing.refused) ?? .unknown
        }
        guard hasPlace(beside: map.count(of: room)) else {
            return .refused(
                Abort(.conflict, code: "room_full", reason: "The room has \(roomSize) connections, its limit."))
        }
        return .open
    }

    private func isOpen(_ room: UUID) -> Bool {
        anyRoomIsOpen || open.contains(room)
    }

    private func hasPlace(beside connections: Int) -> Bool {
        if connections >= roomSize { metrics.turnedAway.add() }
        return connections < roomSize
    }

    /// Remembers for a moment what the database said of a room that nobody can enter.
    func remember(_ state: RoomState, of room: UUID, at now: MonotonicTime) {
        refusals.remember(state, of: room, at: now)
    }

    // MARK: Peers

    /// - Parameter task: Which of the room's tasks the peer says is its own; asked for only when somebody listens.
    func enter(_ webSocket: WebSocket, _ room: UUID, task: @autoclosure () -> UUID?) -> Connection {
        let (shared, connections) = map.room(room)
        let connection = Connection(webSocket, in: shared, of: self)
        guard isOpen(room), hasPlace(beside: connections) else {
            // It closed, or filled, while the connection was on its way.
            webSocket.close(.policyViolation, "the room is full or over")
            return connection
        }
        map.join(connection)
        webSocket.send(frame: handshakeFrame)
        if report != nil {
            connection.task = task()
            tell(.joined, connection)
        }
        return connection
    }

    func left(_ connection: Connection) {
        let wasMember = connection.place != nil
        map.leave(connection)
        // Who is in a room that closes doesn't leave it.
        if report != nil, wasMember { tell(.left, connection) }
    }

    /// Many who come at once are told of together.
    private func tell(_ kind: PeerEvent.Kind, _ connection: Connection) {
        let reactor = connection.webSocket.reactor
        if events.isEmpty {
            reactor.schedule(after: PeerEvent.delay) { [weak self] in self?.flushEvents() }
        }
        events.append(
            PeerEvent(
                kind, room: connection.room.id, task: connection.task, peers: map.count(of: connection.room.id),
                at: reactor.now))
    }

    private func flushEvents() {
        guard !events.isEmpty else { return }
        report?(events)
        events = []
    }

    /// What nobody was told of yet: for a daemon that stops.
    func takeEvents() -> [PeerEvent] {
        defer { events = [] }
        return events
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
