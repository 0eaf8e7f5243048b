import Domain
import Features
import FoundationEssentials
import Observability
import Reminders
import Rooms
import Server
import Sockets
import Wire

/// Enters a match's room: `GET /socket?id=<room>`. `&taskId=<task>` names the peer's task. With `&presence=true` the
/// peer receives the number of people. With `&deviceId=<device>` as well, all connections of the device count as one
/// person.
struct AleController: RouteCollection {
    private let matches: MatchRooms
    /// Handles WebSockets that name no room. If `nil`, they are refused.
    private let defaultHandler: (any DefaultSocketHandler)?

    init(_ matches: MatchRooms, defaultHandler: (any DefaultSocketHandler)? = nil) {
        self.matches = matches
        self.defaultHandler = defaultHandler
    }

    func boot(routes: RoutesBuilder) {
        // The compression keeps no context between messages, because there are many connections and most are idle.
        routes.webSocket(
            "socket", as: AleDescriptions.socket, loop: loop, compression: .noContextTakeover,
            options: WebSocketOptions(maxMessageBytes: { [defaultHandler] in
                guard let defaultHandler, Self.namesNoRoom($0) else { return nil }
                return defaultHandler.maxMessageBytes
            }), admit: admit)
    }

    /// Returns the loop of the room. The connection moves there first, so that only one loop knows whether the room is
    /// open.
    @Sendable private func loop(_ request: Request) -> Int? {
        Self.room(request).map(matches.rooms.homeIndex(of:))
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        guard let room = Self.room(request) else {
            if let defaultHandler, Self.namesNoRoom(request.head) {
                return .admitted(try defaultHandler.admit(request))
            }
            throw Abort(
                .badRequest, code: "invalid_request", reason: "id must be the UUID of a room: /socket?id=<room>.")
        }
        let task = Self.uuid("taskId", in: request)
        return try matches.admission(to: room, as: task, on: reactor) { enter(room, as: task, request, $0) }
    }

    private func enter(
        _ room: UUID, as task: UUID?, _ request: Request, _ webSocket: WebSocket
    ) -> any WebSocketHandler {
        let asksForPresence = Self.asksForPresence(request)
        let device = asksForPresence && task == nil ? Self.device(request) : nil
        let connection = matches.rooms.shard(on: webSocket.reactor).enter(
            room, device == nil ? webSocket : DevicePeer(webSocket), policy: matches.policy,
            claimedIdentity: task ?? device.map(matches.keys.device))
        if connection.isMember {
            webSocket.greet()
            if asksForPresence { connection.watchPresence() }
        } else {
            // The room has closed or become full while the connection moved to its loop.
            matches.metrics.turnedAway.add()
            webSocket.close(.policyViolation, "the room is full or closed")
        }
        return connection
    }

    private static func namesNoRoom(_ head: HTTPRequestHead) -> Bool {
        var namesRoom = false
        head.withQueryValue("id") { _ in namesRoom = true }
        return !namesRoom && WebSocketHandshake.isAsked(by: head)
    }

    private static func asksForPresence(_ request: Request) -> Bool {
        var asks = false
        request.head.withQueryValue("presence") { asks = $0.elementsEqual("true".utf8) }
        return asks
    }

    /// Returns the device. The parameter is optional, so an invalid id is ignored.
    private static func device(_ request: Request) -> DeviceID? {
        request.query("deviceId").flatMap { try? DeviceID($0) }
    }

    private static func room(_ request: Request) -> UUID? {
        uuid("id", in: request)
    }

    /// Reads the parameter without making a string, because this is done for each connection.
    private static func uuid(_ name: StaticString, in request: Request) -> UUID? {
        var uuid: UUID?
        request.head.withQueryValue(name) { uuid = UUID(ascii: $0) }
        return uuid
    }
}
