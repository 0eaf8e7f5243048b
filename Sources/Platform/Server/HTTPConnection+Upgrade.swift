import Sockets
import Wire

/// The upgrade of a request to a WebSocket. First the loop is chosen, then the request is admitted, and then the
/// handshake is sent.
extension HTTPConnection {
    /// Moves the connection to the loop of the request's room, before the request is admitted.
    func move(_ request: Request, _ route: WebSocketRoute, to target: EventLoop) {
        let unread = backlog
        backlog = []
        state = .over
        let detached = socket.detach()
        let (application, peer) = (server.application, peer)
        let request = Request(
            head: request.head, body: request.body, parameters: request.parameters, loop: target,
            transport: request.transport, permit: request.permit)
        target.submit { reactor in
            HTTPConnection.resume(
                detached, from: peer, on: reactor, server: application.server(on: reactor), with: request,
                route: route, unread: unread)
        }
    }

    func serve(_ request: Request, _ route: WebSocketRoute) {
        do {
            switch try route.admit(request, socket.reactor) {
            case .admitted(let onUpgrade):
                upgrade(request, route, onUpgrade)
            case .unknown(let find):
                awaitAnswer { () async -> Result<WebSocketRoute.OnUpgrade, any Error> in
                    do { return .success(try await find()) } catch { return .failure(error) }
                } then: { connection, found in
                    switch found {
                    case .success(let onUpgrade): connection.upgrade(request, route, onUpgrade)
                    case .failure(let error): connection.refuse(request, error)
                    }
                }
            }
        } catch {
            refuse(request, error)
        }
    }

    private func refuse(_ request: Request, _ error: any Error) {
        answer(server.application.responder.response(to: error), to: request.head)
    }

    private func upgrade(
        _ request: Request, _ route: WebSocketRoute, _ onUpgrade: WebSocketRoute.OnUpgrade
    ) {
        let handshake: WebSocketHandshake.Acceptance
        do throws(WebSocketHandshakeError) {
            handshake = try WebSocketHandshake.accept(
                request.head, route.compression, subprotocol: route.options.subprotocol(request.head),
                with: server.handshakeDigest)
        } catch {
            return answer(Abort(error.status, reason: error.reason, headers: error.fields), to: request.head)
        }
        server.counters.responses[HTTPStatus.switchingProtocols.code, default: 0] += 1
        socket.enqueue(SharedBytes(handshake.response))
        state = .over
        let unread = backlog
        backlog = []
        let webSocket = WebSocket(
            socket, server: server, compression: handshake.compression,
            maxMessageBytes: route.options.maxMessageBytes(request.head))
        socket.handler = webSocket
        socket.setReading(true)
        webSocket.begin(onUpgrade(webSocket), unread: unread)
    }

    /// Continues on this loop with a request that another loop received.
    static func resume(
        _ detached: DetachedSocket, from peer: HTTPPeer, on reactor: Reactor, server: ServerShard,
        with request: Request,
        route: WebSocketRoute, unread: [UInt8]
    ) {
        guard let socket = try? StreamSocket(detached, on: reactor) else { return }
        socket.companion = peer.permit
        let connection = HTTPConnection(on: socket, from: peer, server: server)
        connection.state = .answering
        connection.backlog = unread
        connection.serve(request, route)
        connection.proceed()
    }
}
