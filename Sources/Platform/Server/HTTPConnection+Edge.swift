import Basics
import Sockets
import Wire

/// The checks before a request is routed: limits, host name and origin.
extension HTTPConnection {
    /// Counts the connection for the client of the request. Behind a proxy, the client may change with each request.
    ///
    /// - Returns: The refusal if the client's address has too many connections.
    func refusalOfAddress(_ head: HTTPRequestHead) -> Abort? {
        guard peer.isProxy, let cause = server.count(&peer, for: head, on: socket) else { return nil }
        let reason =
            switch cause {
            case .tooManyConnections: "This address has too many open connections."
            case .tooFast: "This address opens new connections too fast."
            }
        return Abort(.tooManyRequests, code: "too_many_connections", reason: reason, headers: Self.retryAfter)
    }

    /// Returns the refusal of a request whose address exceeds its rates, before the handler runs. Requests for
    /// WebSockets have a separate rate. An app that often retries to enter its room can then still fetch its schedule.
    func refusalOfPace(_ head: HTTPRequestHead, _ match: Router.Match) -> Response? {
        guard let permit = peer.permit else { return nil }
        var registers = false
        var cost = 1
        if case .found(let route, _) = match {
            if case .webSocket = route.endpoint { return nil }
            registers = route.registers
            cost = route.cost
        }
        if !permit.admits(.request, times: cost, at: socket.reactor.now) {
            server.counters.rateLimitedRequests += 1
            return Self.asksTooFast
        }
        if !head.method.isSafe, !permit.admits(.write, at: socket.reactor.now) {
            server.counters.rateLimitedWrites += 1
            return Self.writesTooFast
        }
        if registers, !permit.admits(.registration, at: socket.reactor.now) {
            server.counters.rateLimitedRegistrations += 1
            return Self.registersTooMuch(server.application.limits.registrationsPerDay)
        }
        refusalsInARow = 0
        return nil
    }

    /// Answers a request that exceeds a rate. After 32 such responses in a row, the connection is closed. This slows
    /// the client down, because new connections are also limited. A proxy's connection stays open, because other
    /// clients share it.
    func refusePace(_ refusal: Response, to head: HTTPRequestHead) {
        if !peer.isProxy { refusalsInARow &+= 1 }
        answer(refusal, to: head, isLast: refusalsInARow >= Self.patienceWithHaste)
    }

    private static let patienceWithHaste: UInt8 = 32

    private static let asksTooFast = Response(
        Abort(.tooManyRequests, reason: "This address sends requests too fast.", headers: retryAfter))
    private static let writesTooFast = Response(
        Abort(
            .tooManyRequests,
            reason: "This address sends requests that change something, such as POST and DELETE, too fast.",
            headers: retryAfter))

    /// Returns the refusal of a registration that exceeds the daily limit. `Retry-After` is the time in which one
    /// registration becomes free.
    private static func registersTooMuch(_ perDay: Int) -> Response {
        let seconds = 86_400 / max(1, perDay) + 1
        return Response(
            Abort(
                .tooManyRequests, code: "too_many_registrations",
                reason: "This address has reached its daily limit of registrations. Try again later.",
                headers: [HTTPField("Retry-After", "\(seconds)")]))
    }

    /// Returns the refusal of a WebSocket request that exceeds the rate. This is checked before another loop or the
    /// database is asked.
    func refusalOfUpgrade(_ head: HTTPRequestHead) -> Abort? {
        if let permit = peer.permit, !permit.admits(.upgrade, at: socket.reactor.now) {
            server.counters.rateLimitedUpgrades += 1
            return Abort(
                .tooManyRequests, reason: "This address opens WebSockets too fast.",
                headers: Self.retryAfter)
        }
        guard !server.application.edge.allowedOrigins.admit(head), WebSocketHandshake.isAsked(by: head) else {
            return nil
        }
        server.counters.crossOriginUpgrades += 1
        return Abort(
            .forbidden, code: "origin_not_allowed",
            reason: "RFC 6455 §10.2: pages of this origin must not open a WebSocket here.")
    }

    /// Returns the refusal of a request that a page of another origin sent and that could change something. Any page
    /// may send such a request, because CORS protects only the response.
    func refusalOfWrite(_ head: HTTPRequestHead) -> Abort? {
        guard !head.method.isSafe, !server.application.edge.allowedOrigins.admit(head) else { return nil }
        server.counters.crossOriginWrites += 1
        return Abort(
            .forbidden, code: "origin_not_allowed",
            reason: "Pages of this origin must not change anything on this server.")
    }

    /// Returns the refusal of a request for a host name that this server doesn't have.
    func refusalOfHost(_ head: HTTPRequestHead, _ match: Router.Match) -> Abort? {
        guard !server.application.edge.allowedHosts.admit(head) else { return nil }
        if case .found(let route, _) = match, route.answersAnyHost { return nil }
        server.refusedHost(of: head, at: socket.reactor.now)
        return Abort(
            .misdirectedRequest, code: "host_not_allowed",
            reason:
                "This server doesn't accept requests for this host name. Its operator can allow the name with --hosts."
        )
    }

    /// The header field for rates of at least one per second: the next request is admitted within a second.
    private static var retryAfter: [HTTPField] { [HTTPField("Retry-After", "1")] }

    /// Returns the refusal of content in a coding that isn't accepted, such as gzip (RFC 9110 §15.5.16).
    func refusalOfCoding(_ head: HTTPRequestHead) -> Abort? {
        let codings = head.headers.values("Content-Encoding").map { $0.lowercased() }
        let accepted = server.application.edge.contentCodings.union(["", "identity"])
        guard let coding = codings.first(where: { !accepted.contains($0) }) else { return nil }
        return Abort(
            .unsupportedMediaType,
            reason: "Content-Encoding \(coding) isn't supported. Send the content without a Content-Encoding.",
            headers: [HTTPField("Accept-Encoding", "identity")])
    }

    // MARK: Cross-origin requests (Fetch §3.2)

    /// Returns the fields that answer a browser's preflight request (OPTIONS).
    func preflight(_ head: HTTPRequestHead, allowing methods: String) -> [HTTPField] {
        guard head.headers.contains("Access-Control-Request-Method"),
            server.application.edge.allowedOrigins.sharing(head) != nil
        else { return [] }
        return [
            HTTPField("Access-Control-Allow-Methods", methods),
            HTTPField("Access-Control-Allow-Headers", server.application.edge.allowedRequestFields),
            // Two hours is the longest time that all browsers accept.
            HTTPField("Access-Control-Max-Age", "7200"),
        ]
    }
}

extension ResponseWriter {
    /// Adds the field `Access-Control-Allow-Origin`, which names the pages with access to the response. Credentials are
    /// never allowed, because no route uses them.
    mutating func share(_ head: HTTPRequestHead, with origins: AllowedOrigins) {
        share(origins.sharing(head), with: origins)
    }

    /// Adds the same field, for the value of an `Origin` field.
    mutating func share(origin: String?, with origins: AllowedOrigins) {
        share(origins.sharing(origin: origin), with: origins)
    }

    private mutating func share(_ origin: String?, with origins: AllowedOrigins) {
        if origins.areSeveral { field("Vary", "Origin") }
        guard let origin else { return }
        field("Access-Control-Allow-Origin", origin)
        field("Access-Control-Expose-Headers", "Retry-After")
    }
}
