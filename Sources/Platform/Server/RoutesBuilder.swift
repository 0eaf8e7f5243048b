package import Wire

/// Collects an application's routes, before it starts.
///
/// ```swift
/// routes.post("task", as: registration, use: register)
/// routes.delete("task", ":id", as: cancellation, use: cancel)
/// routes.webSocket("socket", as: socket, admit: admit, onUpgrade: enter)
/// ```
package final class RoutesBuilder {
    private(set) var routes: [Route] = []
    private var audience: Audience
    private var answersAnyHost = false

    /// - Parameter audience: Of the routes that are added outside of any ``group(for:_:)``.
    package init(for audience: Audience = .everyone) {
        self.audience = audience
    }

    package func get(
        _ path: String..., as description: RouteDescription? = nil, use handler: @escaping Route.AsyncHandler
    ) {
        add(.get, path, .asynchronous(handler), description)
    }

    /// A handler that doesn't wait for anything runs on the connection's loop, without a task.
    package func get(
        _ path: String..., as description: RouteDescription? = nil, immediately handler: @escaping Route.Handler
    ) {
        add(.get, path, .synchronous(handler), description)
    }

    /// - Parameter registers: Whether it has something new kept for long, which an address may only so often a day.
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

    /// A route whose requests become WebSockets.
    ///
    /// - Parameters:
    ///   - path: The path's segments.
    ///   - description: What it is, for those who use it.
    ///   - loop: The index of the loop on which the connection is to live, taken modulo the number of loops; the
    ///     connection moves there before `admit` is asked. `nil`: it stays where it is.
    ///   - admit: Whether the request may become a WebSocket; asked before the handshake is looked at, also for a
    ///     request that wants no upgrade at all.
    ///   - compression: What to answer to offers of permessage-deflate.
    ///   - options: What else is this route's own.
    ///   - onUpgrade: Called when the connection is a WebSocket; gives it its handler.
    package func webSocket(
        _ path: String..., as description: RouteDescription? = nil,
        loop: @escaping WebSocketRoute.Affinity = { _ in nil },
        admit: @escaping WebSocketRoute.Admit = { _, _ in .admitted },
        compression: WebSocketCompression = .none, options: WebSocketOptions = WebSocketOptions(),
        onUpgrade: @escaping WebSocketRoute.OnUpgrade
    ) {
        let route = WebSocketRoute(
            affinity: loop, admit: admit, compression: compression, options: options, onUpgrade: onUpgrade)
        add(.get, path, .webSocket(route), description)
    }

    /// Adds routes that the listeners of an audience have, whoever the others are for.
    package func group(for audience: Audience, _ add: (RoutesBuilder) -> Void) {
        let outer = self.audience
        self.audience = audience
        add(self)
        self.audience = outer
    }

    /// Adds routes that answer whatever host is asked for: they tell nobody anything, and who asks may know the server by
    /// another name, as a balancer does.
    package func groupForAnyHost(_ add: (RoutesBuilder) -> Void) {
        let outer = answersAnyHost
        answersAnyHost = true
        add(self)
        answersAnyHost = outer
    }

    package func register(collection: any RouteCollection) {
        collection.boot(routes: self)
    }

    /// What has been added so far, as it is shown.
    package var described: [DescribedRoute] { routes.map(\.described) }

    private func add(
        _ method: HTTPMethod, _ path: [String], _ endpoint: Route.Endpoint, _ description: RouteDescription?,
        registers: Bool = false
    ) {
        routes.append(
            Route(
                method: method, path: path, endpoint: endpoint, audience: audience, answersAnyHost: answersAnyHost,
                registers: registers, description: description))
    }
}

/// Routes that belong together: a controller.
package protocol RouteCollection {
    /// Adds the collection's routes.
    func boot(routes: RoutesBuilder)
}
