import Wire

/// Finds the route of a request. With few routes, a linear search is faster than a tree.
struct Router: Sendable {
    enum Match {
        case found(Route, parameters: [String: String])
        /// The path exists, but not with this method. `Allow` lists the valid methods. A WebSocket route has its own
        /// answer.
        case methodNotAllowed(allow: String, isWebSocket: Bool)
        case notFound
    }

    let routes: [Route]
    /// The number of segments of the longest path with parameters.
    private let maxSegments: Int

    init(routes: [Route]) {
        self.routes = routes
        maxSegments = routes.filter { $0.literalPath == nil }.map(\.segments.count).max() ?? 0
    }

    /// - Parameter audience: The audience of the listening socket. Routes of other audiences aren't found.
    func match(_ head: HTTPRequestHead, for audience: Audience) -> Match {
        // HEAD requests use the route of GET, and the response has no content (RFC 9110 §9.3.2).
        let method = head.method == .head ? .get : head.method
        var others: [HTTPMethod] = []
        var isWebSocket = false
        // The path is split once for all routes. Segments beyond the longest route aren't needed.
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

    /// Returns the value of `Allow` for the methods of a path (RFC 9110 §10.2.1).
    static func allow(_ methods: [HTTPMethod]) -> String {
        var names = methods.map(\.name)
        if methods.contains(.get) { names.append("HEAD") }
        names.append("OPTIONS")
        return names.joined(separator: ", ")
    }
}
