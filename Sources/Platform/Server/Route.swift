package import Sockets
package import Wire

/// A method, a path, and a handler. This is a class, so that the search for a route copies no routes.
package final class Route: Sendable {
    /// A handler that responds at once, on the connection's loop. It must not wait.
    package typealias Handler = @Sendable (Request) throws -> Response
    /// A handler that responds later. It runs in its own task.
    package typealias AsyncHandler = @Sendable (Request) async throws -> Response

    enum Endpoint: Sendable {
        case synchronous(Handler)
        case asynchronous(AsyncHandler)
        case webSocket(WebSocketRoute)
    }

    enum Segment: Sendable {
        case literal(String)
        case parameter(String)
    }

    let method: HTTPMethod
    /// The whole path, such as `/a/b`, of a route without parameters. It is compared as a whole.
    let literalPath: [UInt8]?
    let segments: [Segment]
    let endpoint: Endpoint
    /// The audience of the route. Only listening sockets that share it reach the route.
    let audience: Audience
    /// Whether the route answers requests for every host name, see ``EdgePolicy/allowedHosts``.
    let answersAnyHost: Bool
    /// Whether the route's requests store something for a long time. For these requests, each address has a daily
    /// limit.
    let registers: Bool
    /// The number of requests that one request of this route counts as, for limits.
    let cost: Int
    /// The description of the route for developers of clients.
    let description: RouteDescription?

    init(
        method: HTTPMethod, path: [String], endpoint: Endpoint, audience: Audience, answersAnyHost: Bool,
        registers: Bool = false, cost: Int = 1, description: RouteDescription? = nil
    ) {
        self.method = method
        self.description = description
        self.registers = registers
        self.cost = cost
        self.endpoint = endpoint
        self.audience = audience
        self.answersAnyHost = answersAnyHost
        segments = path.map { $0.hasPrefix(":") ? .parameter(String($0.dropFirst())) : .literal($0) }
        literalPath = path.contains { $0.hasPrefix(":") } ? nil : Array(("/" + path.joined(separator: "/")).utf8)
    }

    /// Returns the parameters if the path matches, and otherwise `nil`.
    ///
    /// - Parameter parts: The path's segments. `nil` if the path has more segments than the longest route, so that no
    ///   route can match.
    func match(_ head: HTTPRequestHead, _ parts: @autoclosure () -> [String]?) -> [String: String]? {
        if let literalPath { return head.path(equals: literalPath) ? [:] : nil }
        guard let parts = parts(), parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch segment {
            // Segments are compared byte for byte, like the whole path of routes without parameters.
            case .literal(let text): guard part.utf8.elementsEqual(text.utf8) else { return nil }
            case .parameter(let name): parameters[name] = part
            }
        }
        return parameters
    }
}

/// A path whose requests become WebSockets. See ``RoutesBuilder/webSocket(_:as:loop:compression:options:admit:)``. This
/// is a class, like ``Route``.
package final class WebSocketRoute: Sendable {
    package typealias Affinity = @Sendable (Request) -> Int?
    package typealias Admit = @Sendable (Request, Reactor) throws -> Admission
    /// Called on the loop when an admitted connection has become a WebSocket. Returns the WebSocket's handler.
    package typealias OnUpgrade = @Sendable (WebSocket) -> any WebSocketHandler

    let affinity: Affinity
    let admit: Admit
    let compression: WebSocketCompression
    let options: WebSocketOptions

    init(
        affinity: @escaping Affinity, admit: @escaping Admit, compression: WebSocketCompression,
        options: WebSocketOptions
    ) {
        self.affinity = affinity
        self.admit = admit
        self.compression = compression
        self.options = options
    }

    /// The decision whether a request may become a WebSocket. A refusal is thrown as an ``Abort``.
    package enum Admission: Sendable {
        case admitted(OnUpgrade)
        /// This loop can't decide. The closure decides in its own task, and throws if it refuses.
        case unknown(@Sendable () async throws -> OnUpgrade)
    }
}

/// Options of a route's WebSockets that differ from the server's.
package struct WebSocketOptions: Sendable {
    /// Selects one of the client's subprotocols (RFC 6455 §4.2.2).
    package var subprotocol: @Sendable (HTTPRequestHead) -> String?
    /// The maximum message size in bytes, if it isn't ``ServerLimits/maxMessageBytes``.
    package var maxMessageBytes: @Sendable (HTTPRequestHead) -> Int?

    package init(
        subprotocol: @escaping @Sendable (HTTPRequestHead) -> String? = { _ in nil },
        maxMessageBytes: @escaping @Sendable (HTTPRequestHead) -> Int? = { _ in nil }
    ) {
        self.subprotocol = subprotocol
        self.maxMessageBytes = maxMessageBytes
    }
}
