package import Sockets
package import Wire

/// A method, a path, and a handler. An object, so that the search through routes copies none.
package final class Route: Sendable {
    /// A handler that responds at once, on the connection's loop. It must not wait.
    package typealias Handler = @Sendable (Request) throws -> Response
    /// A handler that responds later; it runs in its own task.
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
    /// The whole path, such as `/a/b`, for a route without parameters; it is compared at once.
    let literalPath: [UInt8]?
    let segments: [Segment]
    let endpoint: Endpoint
    /// The audience whose listeners reach it.
    let audience: Audience
    /// Whether it answers for every host name, see ``EdgePolicy/allowedHosts``.
    let answersAnyHost: Bool
    /// Whether its requests store something for a long time, for which each address has a daily limit.
    let registers: Bool
    /// The number of requests that one request of the route counts as.
    let cost: Int
    /// Its description for clients' developers.
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

    /// Returns the parameters if the path matches; otherwise `nil`.
    ///
    /// - Parameter parts: The path's segments; `nil` if it has more than any route. Computed only if needed.
    func match(_ head: HTTPRequestHead, _ parts: @autoclosure () -> [String]?) -> [String: String]? {
        if let literalPath { return head.path(equals: literalPath) ? [:] : nil }
        guard let parts = parts(), parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch segment {
            // Byte for byte, like the whole path of other routes.
            case .literal(let text): guard part.utf8.elementsEqual(text.utf8) else { return nil }
            case .parameter(let name): parameters[name] = part
            }
        }
        return parameters
    }
}

/// A path whose requests become WebSockets. See ``RoutesBuilder/webSocket(_:as:loop:compression:options:admit:)``. An
/// object, like its ``Route``.
package final class WebSocketRoute: Sendable {
    package typealias Affinity = @Sendable (Request) -> Int?
    package typealias Admit = @Sendable (Request, Reactor) throws -> Admission
    /// Called on the loop when an admitted connection is a WebSocket. Returns its handler.
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

    /// Whether a request may become a WebSocket. A refusal is a thrown ``Abort``.
    package enum Admission: Sendable {
        case admitted(OnUpgrade)
        /// Not known on this loop. The closure finds out in its own task, and throws the refusal.
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
