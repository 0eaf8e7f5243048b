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
    /// Where those are let in who name no room; nil: nowhere.
    private let lobby: (any SocketLobby)?

    init(_ matches: MatchRooms, lobby: (any SocketLobby)? = nil) {
        self.matches = matches
        self.lobby = lobby
    }

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
                .badRequest, code: "invalid_request", reason: "id must be the UUID of a room: /socket?id=<room>.")
        }
        return try matches.admission(to: room, on: reactor)
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        let room = Self.room(request)
        if room == nil, let lobby, Self.isForLobby(request.head) { return lobby.enter(request, webSocket) }
        let asksForPresence = Self.asksForPresence(request)
        let task = Self.uuid("taskId", in: request)
        let device = asksForPresence && task == nil ? Self.device(request) : nil
        // `admit` has seen that there is an id.
        let connection = matches.rooms.shard(on: webSocket.reactor).enter(
            room ?? UUID(), device == nil ? webSocket : DevicePeer(webSocket), policy: matches.policy,
            claimedIdentity: task ?? device.map(matches.keys.device))
        if connection.isMember {
            webSocket.greet()
            if asksForPresence { connection.watchPresence() }
        } else {
            // It closed, or filled, while the connection was on its way.
            matches.metrics.turnedAway.add()
            webSocket.close(.policyViolation, "the room is full or closed")
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
