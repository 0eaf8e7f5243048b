import Domain
import FoundationEssentials
import LiveSchedule
import Observability
import Rooms
package import Server
import Sockets
import Wire

/// `GET /socket?id=<room>`: the way into a match's room. With `&taskId=<task>` the peer says whose it is; with `&presence=true` it is told
/// how many people are there, and counts by `&deviceId=<device>` as one with its device's others.
struct AleController: RouteCollection, Sendable {
    private let matches: MatchRooms
    private let keys: RoomKeys
    /// Where those are let in who name no room; nil: nowhere.
    private let lobby: (any SocketLobby)?
    /// Each loop's own: no other thread counts its references.
    private let handshakeFrame = LoopLocal<SharedBytes>()

    init(_ matches: MatchRooms, keys: RoomKeys, lobby: (any SocketLobby)? = nil) {
        self.matches = matches
        self.keys = keys
        self.lobby = lobby
    }

    private var rooms: Rooms { matches.rooms }

    func boot(routes: RoutesBuilder) {
        // Nothing is kept between messages: most connections are idle, and there are many of them.
        routes.webSocket(
            "socket", as: AleDescriptions.socket, loop: loop, admit: admit, compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { [lobby] in
                guard let lobby, Self.isForLobby($0) else { return nil }
                return lobby.maxMessageBytes
            }), onUpgrade: enter)
    }

    /// The connection moves to its room's loop first, so that one loop alone knows whether the room is open.
    @Sendable private func loop(_ request: Request) -> Int? {
        Self.room(request).map(matches.rooms.homeIndex(of:))
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        guard let room = Self.room(request) else {
            if let lobby, Self.isForLobby(request.head) {
                try lobby.admit(request)
                return .admitted
            }
            throw Abort(
                .badRequest, code: "invalid_request", reason: "id is the UUID of a room: /socket?id=<room uuid>.")
        }
        switch rooms.shard(on: reactor).decision(of: room, policy: matches.policy) {
        case .open:
            return .admitted
        case .full:
            matches.metrics.turnedAway.add()
            throw Abort(
                .conflict, code: "room_full", reason: "The room has \(matches.policy.capacity) connections, its limit.")
        case .refused(let state, let age):
            guard let refusal = Abort(state, after: age) else { return .admitted }
            throw refusal
        case .unknown:
            return .unknown { try await matches.learn(of: room) }
        }
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        let room = Self.room(request)
        if room == nil, let lobby, Self.isForLobby(request.head) { return lobby.enter(request, webSocket) }
        let reactor = webSocket.reactor
        let asksForPresence = Self.asksForPresence(request)
        let task = Self.uuid("taskId", in: request)
        let device = asksForPresence && task == nil ? Self.device(request) : nil
        // `admit` has seen that there is an id.
        let connection = rooms.shard(on: reactor).enter(
            room ?? UUID(), device == nil ? webSocket : DevicePeer(webSocket), policy: matches.policy,
            claimedIdentity: task ?? device.map(keys.device))
        if connection.isMember {
            webSocket.send(frame: handshakeFrame.value(on: reactor) { SharedBytes(AleFrame.handshake) })
            if asksForPresence { connection.watchPresence() }
        } else {
            // It closed, or filled, while the connection was on its way.
            matches.metrics.turnedAway.add()
            webSocket.close(.policyViolation, "the room is full or over")
        }
        return connection
    }

    private static func isForLobby(_ head: HTTPRequestHead) -> Bool {
        var namesRoom = false
        head.withQueryValue("id") { _ in namesRoom = true }
        return !namesRoom && WebSocketHandshake.isAsked(by: head)
    }

    private static func asksForPresence(_ request: Request) -> Bool {
        var asks = false
        request.head.withQueryValue("presence") { asks = $0.elementsEqual("true".utf8) }
        return asks
    }

    /// Nobody is refused for it, as nobody has to say it: what is no device's name is nobody's.
    private static func device(_ request: Request) -> DeviceID? {
        request.query("deviceId").flatMap { try? DeviceID($0) }
    }

    private static func room(_ request: Request) -> UUID? {
        uuid("id", in: request)
    }

    /// No string is made of it: this is asked for each connection.
    private static func uuid(_ name: StaticString, in request: Request) -> UUID? {
        var uuid: UUID?
        request.head.withQueryValue(name) { uuid = UUID(ascii: $0) }
        return uuid
    }
}

/// Who takes the WebSockets of `/socket` that name no room.
package protocol SocketLobby: Sendable {
    /// Of a message that it takes.
    var maxMessageBytes: Int { get }
    func admit(_ request: Request) throws
    func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler
}

extension Abort {
    /// The answer to who wants to enter a room that is not open, `age` after the database was asked; `nil` for one that is.
    init?(_ state: RoomState, after age: Duration = .zero) {
        switch state {
        case .open:
            return nil
        case .unknown:
            self.init(.notFound, code: "no_such_room", reason: "There is no such room.")
        case .closed:
            self.init(.gone, code: "room_closed", reason: "The room's time is over.")
        case .notOpen(let opensAt, let then):
            let left = (opensAt - then - age / .seconds(1)).rounded(.up)
            let instant = Instant(epoch: opensAt)?.description ?? "another time"
            self.init(
                .forbidden, code: "room_not_open", reason: "The room opens at \(instant).",
                headers: [HTTPField("Retry-After", String(Int(max(1, min(left, 1e9)))))],
                details: [("opensAt", instant)])
        }
    }
}

/// What the rooms count. Any thread.
struct RoomMetrics: Sendable {
    /// Peers that found their room full.
    let turnedAway = Counter()
    /// Ales that subscriptions on `/cable` weren't sent, because they hadn't read others.
    let alesLeftOut = Counter()
}
