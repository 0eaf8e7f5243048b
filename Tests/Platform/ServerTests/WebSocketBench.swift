import Server
import Sockets
import TestSupport
import Wire

/// A server whose WebSockets act on their messages.
struct WebSocketBench: Sendable {
    enum Event: Sendable, Equatable {
        case opened(loop: Int)
        case received(String, loop: Int)
        case closed(UInt16)
    }

    let server: TestServer
    let events: EventRecorder<Event>
    /// The decisions that `/checked` waits for: whether the connection is admitted.
    let verdicts: EventRecorder<Bool>

    var endpoint: ClientEndpoint { server.endpoint }

    /// All WebSockets of a loop. `/room` has one room on each loop.
    private final class Room {
        var members: [WebSocket] = []
    }

    private final class Peer: WebSocketHandler {
        private let events: EventRecorder<Event>
        private let room: Room?
        private var sendsWhenClosed = false

        init(_ webSocket: WebSocket, _ events: EventRecorder<Event>, in room: Room?) {
            self.events = events
            self.room = room
            room?.members.append(webSocket)
            events.append(.opened(loop: webSocket.reactor.index))
        }

        func webSocket(_ webSocket: WebSocket, received message: UnsafeRawBufferPointer, _ opcode: WebSocketOpcode) {
            if let room {
                let frame = SharedBytes { WebSocketFrameEncoder.encode(opcode, message, into: &$0) }
                for member in room.members where member !== webSocket { member.send(frame: frame) }
                return
            }
            let text = String(decoding: message, as: UTF8.self)
            events.append(.received(text, loop: webSocket.reactor.index))
            switch text {
            case "close": webSocket.close(.normalClosure, "bye")
            case "close twice":
                webSocket.close(.policyViolation)
                webSocket.close(.normalClosure)
                webSocket.send([1], .binary)
            case "last words": sendsWhenClosed = true
            default: webSocket.send(Array(message), opcode)
            }
        }

        func webSocketDidClose(_ webSocket: WebSocket, code: WebSocketCloseCode) {
            room?.members.removeAll { $0 === webSocket }
            if sendsWhenClosed {
                webSocket.send([1], .binary)
                webSocket.close(.normalClosure)
            }
            events.append(.closed(code.rawValue))
        }
    }

    static func run(
        at address: String = "127.0.0.1", limits: ServerLimits = ServerLimits.patient, edge: EdgePolicy = EdgePolicy(),
        tls: TLSContext? = nil, _ body: (WebSocketBench) async throws -> Void
    ) async throws {
        let (events, verdicts) = (EventRecorder<Event>(), EventRecorder<Bool>())
        let rooms = LoopLocal<Room>()
        let affinity: WebSocketRoute.Affinity = { $0.query("loop").flatMap { Int($0) } }
        try await TestServer.run(at: address, limits: limits, edge: edge, tls: tls) { routes in
            routes.addPlain()
            routes.webSocket("echo", loop: affinity) { Peer($1, events, in: nil) }
            routes.webSocket("room", loop: affinity) { _, webSocket in
                Peer(webSocket, events, in: rooms.value(on: webSocket.reactor, make: Room.init))
            }
            routes.webSocket(
                "refused", loop: affinity, admit: { _, _ in throw Abort(.forbidden, code: "not_yet", reason: "later") })
            routes.webSocket(
                "checked", loop: affinity,
                admit: { _, _ in
                    .unknown {
                        events.append(.received("asked", loop: -1))
                        guard try await verdicts.next("the verdict") else {
                            throw Abort(.notFound, code: "no_such_room", reason: "none")
                        }
                        return { Peer($0, events, in: nil) }
                    }
                })
            routes.webSocket("full", loop: affinity) { _, webSocket in
                webSocket.close(.tryAgainLater, "full")
                return Peer(webSocket, events, in: nil)
            }
        } _: { server in
            try await body(WebSocketBench(server: server, events: events, verdicts: verdicts))
        }
    }

    func client(_ target: String = "/echo", receiveBuffer: Int32? = nil) async throws -> WebSocketTestClient {
        try await WebSocketTestClient.connect(to: endpoint, target, receiveBuffer: receiveBuffer)
    }

    /// Returns a handshake's bytes. Frames may follow in the same packet.
    static func handshake(_ target: String) -> [UInt8] {
        Array(
            ("GET \(target) HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8)
    }
}
