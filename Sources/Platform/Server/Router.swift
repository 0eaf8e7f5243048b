import Wire

/// Finds the route of a request. A handful of routes: a linear search over compared lengths beats any tree.
struct Router: Sendable {
    enum Match {
        case found(Route, parameters: [String: String])
        /// The path is known, but not with this method; `Allow` lists those that are.
        /// A WebSocket's handshake has its own answer to that.
        case methodNotAllowed(allow: String, isWebSocket: Bool)
        case notFound
    }

    let routes: [Route]
    /// Of the longest path that has parameters.
    private let maxSegments: Int

    init(routes: [Route]) {
        self.routes = routes
        maxSegments = routes.filter { $0.literalPath == nil }.map(\.segments.count).max() ?? 0
    }

    /// - Parameter audience: Of the listener that the request came by: other routes aren't there.
    func match(_ head: HTTPRequestHead, for audience: Audience) -> Match {
        // A HEAD is a GET whose content stays away (RFC 9110 §9.3.2).
        let method = head.method == .head ? .get : head.method
        var others: [HTTPMethod] = []
        var isWebSocket = false
        // Split once for all routes, and no further than the longest goes.
        lazy var parts = head.pathSegments(atMost: maxSegments)
        for route in routes {
            guard !route.audience.isDisjoint(with: audience), let parameters = route.match(head, parts) else {
                continue
            }
            if route.method == method { return .found(route, parameters: parameters) }
            if !others.contains(route.method) { others.append(route.method) }
            if case .webSocket = route.endpoint { isWebSocket = true }
        }
        return others.isEmpty ? .notFound : .methodNotAllowed(allow: Self.allow(others), isWebSocket: isWebSocket)
    }

    /// The value of `Allow` for the methods of a path (RFC 9110 §10.2.1).
    static func allow(_ methods: [HTTPMethod]) -> String {
        var names = methods.map(\.name)
        if methods.contains(.get) { names.append("HEAD") }
        names.append("OPTIONS")
        return names.joined(separator: ", ")
    }
}
