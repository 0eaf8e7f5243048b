package import Sockets
package import Wire

/// A method, a path, and what answers. An object, so that a search through routes copies none of it.
package final class Route: Sendable {
    /// Answers at once, on the connection's loop; it must not wait for anything.
    package typealias Handler = @Sendable (Request) throws -> Response
    /// Answers when it can; runs in a task of its own.
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
    /// `/a/b` for a path without parameters, which is then compared as a whole.
    let literalPath: [UInt8]?
    let segments: [Segment]
    let endpoint: Endpoint
    /// By whose listeners it is reached.
    let audience: Audience
    /// Whether it answers whatever host is asked for, see ``EdgePolicy/allowedHosts``.
    let answersAnyHost: Bool
    /// Whether its requests have something new kept for long, which an address may only so often a day.
    let registers: Bool
    /// What it is, for those who use it.
    let description: RouteDescription?

    init(
        method: HTTPMethod, path: [String], endpoint: Endpoint, audience: Audience, answersAnyHost: Bool,
        registers: Bool = false, description: RouteDescription? = nil
    ) {
        self.method = method
        self.description = description
        self.registers = registers
        self.endpoint = endpoint
        self.audience = audience
        self.answersAnyHost = answersAnyHost
        segments = path.map { $0.hasPrefix(":") ? .parameter(String($0.dropFirst())) : .literal($0) }
        literalPath = path.contains { $0.hasPrefix(":") } ? nil : Array(("/" + path.joined(separator: "/")).utf8)
    }

    /// The parameters if the head's path is this route's; `nil` if it isn't.
    ///
    /// - Parameter parts: The path's segments, or `nil` for more than any route has; asked for only if they matter.
    func match(_ head: HTTPRequestHead, _ parts: @autoclosure () -> [String]?) -> [String: String]? {
        if let literalPath { return head.path(equals: literalPath) ? [:] : nil }
        guard let parts = parts(), parts.count == segments.count else { return nil }
        var parameters: [String: String] = [:]
        for (part, segment) in zip(parts, segments) {
            switch segment {
            // As the whole path of other routes: byte for byte.
            case .literal(let text): guard part.utf8.elementsEqual(text.utf8) else { return nil }
            case .parameter(let name): parameters[name] = part
            }
        }
        return parameters
    }
}

/// How a path's requests become WebSockets. See ``RoutesBuilder/webSocket(_:loop:admit:compression:onUpgrade:)``. An object, as the
/// ``Route`` that it belongs to.
package final class WebSocketRoute: Sendable {
    package typealias Affinity = @Sendable (Request) -> Int?
    package typealias Admit = @Sendable (Request, Reactor) throws -> Admission
    package typealias OnUpgrade = @Sendable (Request, WebSocket) -> any WebSocketHandler

    let affinity: Affinity
    let admit: Admit
    let compression: WebSocketCompression
    let options: WebSocketOptions
    let onUpgrade: OnUpgrade

    init(
        affinity: @escaping Affinity, admit: @escaping Admit, compression: WebSocketCompression,
        options: WebSocketOptions, onUpgrade: @escaping OnUpgrade
    ) {
        self.affinity = affinity
        self.admit = admit
        self.compression = compression
        self.options = options
        self.onUpgrade = onUpgrade
    }

    /// Whether a request may become a WebSocket. A refusal is an ``Abort``, thrown.
    package enum Admission: Sendable {
        case admitted
        /// Not known on this loop: the closure finds out, in a task of its own; it throws the refusal.
        case unknown(@Sendable () async throws -> Void)
    }
}

/// What the WebSockets of a route agree on and may take, where it isn't the same for all.
package struct WebSocketOptions: Sendable {
    /// What to take up of the subprotocols that a client offers (RFC 6455 §4.2.2).
    package var subprotocol: @Sendable (HTTPRequestHead) -> String?
    /// A message's size in bytes, where it isn't ``ServerLimits/maxMessageBytes``.
    package var maxMessageBytes: @Sendable (HTTPRequestHead) -> Int?

    package init(
        subprotocol: @escaping @Sendable (HTTPRequestHead) -> String? = { _ in nil },
        maxMessageBytes: @escaping @Sendable (HTTPRequestHead) -> Int? = { _ in nil }
    ) {
        self.subprotocol = subprotocol
        self.maxMessageBytes = maxMessageBytes
    }
}
