package import Wire

/// Collects an application's routes before it starts.
///
/// ```swift
/// routes.post("task", as: registration, use: register)
/// routes.delete("task", ":id", as: cancellation, use: cancel)
/// routes.webSocket("socket", as: socket, admit: admit)
/// ```
package final class RoutesBuilder {
    private(set) var routes: [Route] = []
    private var audience: Audience
    private var answersAnyHost = false

    /// - Parameter audience: The audience of the routes that aren't in a ``group(for:_:)``.
    package init(for audience: Audience = .everyone) {
        self.audience = audience
    }

    /// - Parameter cost: The number of requests that one request counts as. Use more than 1 if the route's statement
    ///   takes much of the database's time.
    package func get(
        _ path: String..., as description: RouteDescription? = nil, cost: Int = 1,
        use handler: @escaping Route.AsyncHandler
    ) {
        add(.get, path, .asynchronous(handler), description, cost: cost)
    }

    /// Adds a route whose handler doesn't wait. The handler runs on the connection's loop, without a task.
    package func get(
        _ path: String..., as description: RouteDescription? = nil, immediately handler: @escaping Route.Handler
    ) {
        add(.get, path, .synchronous(handler), description)
    }

    /// - Parameter registers: Whether the route stores something for a long time. For such requests, each address has a
    ///   daily limit.
    package func post(
        _ path: String..., as description: RouteDescription? = nil, registers: Bool = false,
        use handler: @escaping Route.AsyncHandler
    ) {
        add(.post, path, .asynchronous(handler), description, registers: registers)
    }

    package func delete(
        _ path: String..., as description: RouteDescription? = nil, use handler: @escaping Route.AsyncHandler
    ) {
        add(.delete, path, .asynchronous(handler), description)
    }

    /// Adds a route whose requests become WebSockets.
    ///
    /// - Parameters:
    ///   - path: The path's segments.
    ///   - description: The description for clients' developers.
    ///   - loop: The index of the loop for the connection, modulo the number of loops. The connection moves there
    ///     before `admit` is called. If it is `nil`, the connection stays on its loop.
    ///   - compression: The policy for offers of permessage-deflate.
    ///   - options: Further options of this route.
    ///   - admit: Decides whether the request may become a WebSocket, and returns the function that makes the
    ///     WebSocket's handler. It is called before the handshake is checked, and also for a request without an
    ///     upgrade.
    package func webSocket(
        _ path: String..., as description: RouteDescription? = nil,
        loop: @escaping WebSocketRoute.Affinity = { _ in nil },
        compression: WebSocketCompression = .none, options: WebSocketOptions = WebSocketOptions(),
        admit: @escaping WebSocketRoute.Admit
    ) {
        let route = WebSocketRoute(affinity: loop, admit: admit, compression: compression, options: options)
        add(.get, path, .webSocket(route), description)
    }

    /// Adds a route that admits every request.
    ///
    /// - Parameter onUpgrade: Called when the connection has become a WebSocket. Returns the WebSocket's handler.
    package func webSocket(
        _ path: String..., as description: RouteDescription? = nil,
        loop: @escaping WebSocketRoute.Affinity = { _ in nil },
        compression: WebSocketCompression = .none, options: WebSocketOptions = WebSocketOptions(),
        onUpgrade: @escaping @Sendable (Request, WebSocket) -> any WebSocketHandler
    ) {
        let route = WebSocketRoute(
            affinity: loop,
            admit: { request, _ in
                .admitted { onUpgrade(request, $0) }
            }, compression: compression, options: options)
        add(.get, path, .webSocket(route), description)
    }

    /// Adds routes for an audience.
    package func group(for audience: Audience, _ add: (RoutesBuilder) -> Void) {
        let outer = self.audience
        self.audience = audience
        add(self)
        self.audience = outer
    }

    /// Adds routes that answer requests for every host name. Such routes must not reveal anything. Callers such as load
    /// balancers may use a name that this server doesn't have.
    package func groupForAnyHost(_ add: (RoutesBuilder) -> Void) {
        let outer = answersAnyHost
        answersAnyHost = true
        add(self)
        answersAnyHost = outer
    }

    package func register(collection: any RouteCollection) {
        collection.boot(routes: self)
    }

    /// The routes that were added until now, in the form in which they are published.
    package var described: [DescribedRoute] { routes.map(\.described) }

    private func add(
        _ method: HTTPMethod, _ path: [String], _ endpoint: Route.Endpoint, _ description: RouteDescription?,
        registers: Bool = false, cost: Int = 1
    ) {
        routes.append(
            Route(
                method: method, path: path, endpoint: endpoint, audience: audience, answersAnyHost: answersAnyHost,
                registers: registers, cost: cost, description: description))
    }
}

/// A group of routes that a controller adds.
package protocol RouteCollection: Sendable {
    /// Adds the routes.
    func boot(routes: RoutesBuilder)
}
