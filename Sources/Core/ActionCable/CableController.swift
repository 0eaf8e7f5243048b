import Access
import Server
import Wire

/// `GET /cable`: Rails' Action Cable. Compression is as on `/socket`.
package struct CableController: RouteCollection {
    let cables: Cables

    package init(cables: Cables) {
        self.cables = cables
    }

    func boot(routes: RoutesBuilder) {
        routes.webSocket(
            "cable", as: CableDescriptions.socket, compression: .noContextTakeover,
            options: WebSocketOptions(
                subprotocol: { CableSubprotocol(offeredBy: $0.headers).token },
                maxMessageBytes: { _ in cables.limits.messageBytes })
        ) { request, webSocket in
            CableConnection(webSocket, greeting(request.head), on: cables.shard(on: webSocket.reactor))
        }
    }

    /// Browsers hide the status of a refused handshake, so a refusal is sent on the WebSocket.
    private func greeting(_ head: HTTPRequestHead) -> CableConnection.Greeting {
        let subprotocol = CableSubprotocol(offeredBy: head.headers)
        guard subprotocol != .unsupported else { return .disconnect(.invalidRequest) }
        do throws(IdentityRefusal) {
            let identity = try cables.verifier.identity(of: head)
            guard subprotocol == .extended else { return .welcome(identity) }
            return .extended(
                identity, restoring: head.query("sid") ?? head.headers.values("X-AnyCable-Restore-SID").first)
        } catch {
            return .disconnect(.unauthorized)
        }
    }
}
