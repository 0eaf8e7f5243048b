import Domain
import FoundationEssentials
import Server
import Sockets
import Wire

/// `GET /socket?id=<room>`: the way into a room. With `&taskId=<task>` the peer says whose it is, for the webhook.
struct RoomRoutes: RouteCollection, Sendable {
    let rooms: Rooms
    /// What the database knows of a room that is not open in memory.
    let find: @Sendable (UUID) async throws -> RoomState
    /// Told of a room that the database knows to be open, before a peer enters it.
    let found: @Sendable (OpenRoom) async -> Void

    func boot(routes: RoutesBuilder) {
        // Nothing is kept between messages: most connections are idle, and there are many of them.
        routes.webSocket(
            "socket", loop: loop, admit: admit, compression: .noContextTakeover, onUpgrade: enter)
    }

    /// The connection moves to its room's loop first, so that one loop alone knows whether the room is open.
    @Sendable private func loop(_ request: Request) -> Int? {
        Self.room(request).map(rooms.loopIndex(of:))
    }

    @Sendable private func admit(_ request: Request, _ reactor: Reactor) throws -> WebSocketRoute.Admission {
        guard let room = Self.room(request) else {
            throw Abort(
                .badRequest, code: "invalid_request", reason: "id is the UUID of a room: /socket?id=<room uuid>.")
        }
        switch rooms.controller(on: reactor).standing(of: room, at: reactor.now) {
        case .open:
            return .admitted
        case .refused(let abort):
            throw abort
        case .unknown:
            return .unknown {
                let state = try await find(room)
                if case .open(let closesAt) = state { await found(OpenRoom(id: room, closesAt: closesAt)) }
                if let refusal = Abort(state) {
                    rooms.remember(state, of: room)
                    throw refusal
                }
            }
        }
    }

    @Sendable private func enter(_ request: Request, _ webSocket: WebSocket) -> any WebSocketHandler {
        // `admit` has seen that there is an id.
        rooms.controller(on: webSocket.reactor).enter(
            webSocket, Self.room(request) ?? UUID(), task: request.query("taskId").flatMap(UUID.init(text:)))
    }

    private static func room(_ request: Request) -> UUID? {
        var room: UUID?
        request.head.withQueryValue("id") { room = UUID(ascii: $0) }
        return room
    }
}
