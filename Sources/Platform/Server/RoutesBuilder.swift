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

    /// - Parameter audience: The audience of routes outside any ``group(for:_:)``.
    package init(for audience: Audience = .everyone) {
        self.audience = audience
    }

    /// - Parameter cost: The number of requests that one request counts as, for a route whose statement takes much of the database's time.
    package func get(
        _ path: String..., as description: RouteDescription? = nil, cost: Int = 1,
        use handler: @escaping Route.AsyncHandler
    ) {
        add(.get, path, .asynchronous(handler), description, cost: cost)
    }

    /// Adds a handler that doesn't wait. It runs on the connection's loop, without a task.
    package func get(
        _ path: String..., as description: RouteDescription? = nil, immediately handler: @escaping Route.Handler
    ) {
        add(.get, path, .synchronous(handler), description)
    }

    /// - Parameter registers: Whether it stores something for a long time, for which each address has a daily limit.
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
    /// - path: The path's segments.
    /// - description: The description for clients' developers.
    /// - loop: The index of the connection's loop, modulo the number of loops. The connection moves there before
    ///   `admit` is called. `nil` leaves it on its loop.
    /// - compression: The policy for offers of permessage-deflate.
    /// - options: Further options of this route.
    /// - admit: Whether the request may become a WebSocket, and what makes the WebSocket's handler. Called before the
    ///   handshake is checked, and also for a request without an upgrade.
    package func webSocket(
        _ path: String..., as description: RouteDescription? = nil,
        loop: @escaping WebSocketRoute.Affinity = { _ in nil },
        compression: WebSocketCompression = .none, options: WebSocketOptions = WebSocketOptions(),
        admit: @escaping WebSocketRoute.Admit
    ) {
        let route = WebSocketRoute(affinity: loop, admit: admit, compression: compression, options: options)
        add(.get, path, .webSocket(route), description)
    }

    /// Adds a route that admits each request.
    ///
    /// - Parameter onUpgrade: Called when the connection is a WebSocket. Returns its handler.
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

    /// Adds routes that answer for every host name. They reveal nothing, and callers such as load balancers may use
    /// another name.
    package func groupForAnyHost(_ add: (RoutesBuilder) -> Void) {
        let outer = answersAnyHost
        answersAnyHost = true
        add(self)
        answersAnyHost = outer
    }

    package func register(collection: any RouteCollection) {
        collection.boot(routes: self)
    }

    /// The routes added so far, as they are published.
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

/// A group of routes: a controller.
package protocol RouteCollection: Sendable {
    /// Adds the routes.
    func boot(routes: RoutesBuilder)
}
