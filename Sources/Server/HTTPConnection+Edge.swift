import Sockets
import Wire

/// What is decided before a request's route is asked: for whom it counts, and from whose page it comes.
extension HTTPConnection {
    /// Has the connection count for whom the request is: behind a proxy that may be another for each request.
    ///
    /// - Returns: The refusal when that address has too much already.
    func refusalOfAddress(_ head: HTTPRequestHead) -> Abort? {
        guard peer.isProxy, let cause = server.count(&peer, for: head, on: socket) else { return nil }
        let reason =
            switch cause {
            case .tooManyConnections: "This address has as many connections as it may have."
            case .tooFast: "This address makes new connections faster than it may."
            }
        return Abort(.tooManyRequests, code: "too_many_connections", reason: reason, headers: Self.retryAfter)
    }

    /// The refusal of an attempt at a WebSocket, before it costs anything: no other loop and no database has been asked.
    func refusalOfUpgrade(_ head: HTTPRequestHead) -> Abort? {
        if let address = peer.lease?.address,
            !server.application.ledger.admitsUpgrade(of: address, at: socket.reactor.now)
        {
            server.counters.refusedUpgrades += 1
            return Abort(
                .tooManyRequests, reason: "This address asks for WebSockets faster than it may.",
                headers: Self.retryAfter)
        }
        guard !server.application.edge.allowedOrigins.admit(head), WebSocketHandshake.isAsked(by: head) else {
            return nil
        }
        server.counters.refusedOrigins += 1
        return Abort(
            .forbidden, code: "origin_not_allowed",
            reason: "RFC 6455 §10.2: pages of this origin get no WebSocket here.")
    }

    /// At any rate of at least one a second, the next is admitted within the second.
    private static var retryAfter: [HTTPField] { [HTTPField("Retry-After", "1")] }

    // MARK: Cross-origin requests (Fetch §3.2)

    /// What the answer to an OPTIONS says to a browser that asks whether a page may send the request that it has in mind.
    func preflight(_ head: HTTPRequestHead, allowing methods: String) -> [HTTPField] {
        guard head.headers.contains("Access-Control-Request-Method"),
            server.application.edge.allowedOrigins.sharing(head) != nil
        else { return [] }
        return [
            HTTPField("Access-Control-Allow-Methods", methods),
            HTTPField("Access-Control-Allow-Headers", "Content-Type, Last-Event-ID"),
            // Two hours: the most that any browser believes.
            HTTPField("Access-Control-Max-Age", "7200"),
        ]
    }
}

extension ResponseWriter {
    /// Tells browsers which pages may read the answer. Never with credentials: nothing here depends on any.
    mutating func share(_ head: HTTPRequestHead, with origins: AllowedOrigins) {
        if origins.areSeveral { field("Vary", "Origin") }
        guard let origin = origins.sharing(head) else { return }
        field("Access-Control-Allow-Origin", origin)
        field("Access-Control-Expose-Headers", "Retry-After")
    }
}
