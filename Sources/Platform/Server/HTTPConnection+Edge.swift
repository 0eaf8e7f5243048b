import Basics
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

    /// The refusal of a request whose address asks or writes too much: before its handler runs, and made once for all. What
    /// leads to WebSockets has a pace of its own, so that an app that tries for its room again and again can still ask for
    /// its schedule.
    func refusalOfPace(_ head: HTTPRequestHead, _ match: Router.Match) -> Response? {
        guard let permit = peer.permit else { return nil }
        var registers = false
        if case .found(let route, _) = match {
            if case .webSocket = route.endpoint { return nil }
            registers = route.registers
        }
        if !permit.admits(.request, at: socket.reactor.now) {
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

    /// Answers a request that came too fast. Who heeds none of so many answers has to connect anew, which has a pace too; a
    /// proxy doesn't, since its connections are others' as well.
    func refusePace(_ refusal: Response, to head: HTTPRequestHead) {
        if !peer.isProxy { refusalsInARow &+= 1 }
        answer(refusal, to: head, isLast: refusalsInARow >= Self.patienceWithHaste)
    }

    private static let patienceWithHaste: UInt8 = 32

    private static let asksTooFast = Response(
        Abort(.tooManyRequests, reason: "This address asks faster than it may.", headers: retryAfter))
    private static let writesTooFast = Response(
        Abort(
            .tooManyRequests, reason: "This address writes faster than it may: with POST, DELETE and the like.",
            headers: retryAfter))

    /// The next one is admitted once a day's share has passed.
    private static func registersTooMuch(_ perDay: Int) -> Response {
        let seconds = 86_400 / max(1, perDay) + 1
        return Response(
            Abort(
                .tooManyRequests, code: "too_many_registrations",
                reason: "This address registers more in a day than it may.",
                headers: [HTTPField("Retry-After", "\(seconds)")]))
    }

    /// The refusal of an attempt at a WebSocket, before it costs anything: no other loop and no database has been asked.
    func refusalOfUpgrade(_ head: HTTPRequestHead) -> Abort? {
        if let permit = peer.permit, !permit.admits(.upgrade, at: socket.reactor.now) {
            server.counters.rateLimitedUpgrades += 1
            return Abort(
                .tooManyRequests, reason: "This address asks for WebSockets faster than it may.",
                headers: Self.retryAfter)
        }
        guard !server.application.edge.allowedOrigins.admit(head), WebSocketHandshake.isAsked(by: head) else {
            return nil
        }
        server.counters.crossOriginUpgrades += 1
        return Abort(
            .forbidden, code: "origin_not_allowed",
            reason: "RFC 6455 §10.2: pages of this origin get no WebSocket here.")
    }

    /// The refusal of a request that a page of somebody else's had a browser send, and that could change something: any
    /// page may send it, and CORS guards only the answer.
    func refusalOfWrite(_ head: HTTPRequestHead) -> Abort? {
        guard !head.method.isSafe, !server.application.edge.allowedOrigins.admit(head) else { return nil }
        server.counters.crossOriginWrites += 1
        return Abort(
            .forbidden, code: "origin_not_allowed", reason: "Pages of this origin may change nothing here.")
    }

    /// The refusal of a request that is for another server.
    func refusalOfHost(_ head: HTTPRequestHead, _ match: Router.Match) -> Abort? {
        guard !server.application.edge.allowedHosts.admit(head) else { return nil }
        if case .found(let route, _) = match, route.answersAnyHost { return nil }
        server.refusedHost(of: head, at: socket.reactor.now)
        return Abort(
            .misdirectedRequest, code: "host_not_allowed",
            reason: "This server doesn't answer to that name: use another, or an address, or have its operator name it."
        )
    }

    /// At any rate of at least one a second, the next is admitted within the second.
    private static var retryAfter: [HTTPField] { [HTTPField("Retry-After", "1")] }

    /// The refusal of content in a coding that no route reads (RFC 9110 §15.5.16), such as gzip.
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

    /// What the answer to an OPTIONS says to a browser that asks whether a page may send the request that it has in mind.
    func preflight(_ head: HTTPRequestHead, allowing methods: String) -> [HTTPField] {
        guard head.headers.contains("Access-Control-Request-Method"),
            server.application.edge.allowedOrigins.sharing(head) != nil
        else { return [] }
        return [
            HTTPField("Access-Control-Allow-Methods", methods),
            HTTPField("Access-Control-Allow-Headers", server.application.edge.allowedRequestFields),
            // Two hours: the most that any browser believes.
            HTTPField("Access-Control-Max-Age", "7200"),
        ]
    }
}

extension ResponseWriter {
    /// Tells browsers which pages may read the answer. Never with credentials: nothing here depends on any.
    mutating func share(_ head: HTTPRequestHead, with origins: AllowedOrigins) {
        share(origins.sharing(head), with: origins)
    }

    /// The same for the value of an `Origin` field.
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
