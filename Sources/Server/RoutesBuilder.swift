package import Wire

/// Collects an application's routes, before it starts.
///
/// ```swift
/// routes.post("task", use: register)
/// routes.delete("task", ":id", use: cancel)
/// routes.webSocket("socket", admit: admit, onUpgrade: enter)
/// ```
package final class RoutesBuilder {
    private(set) var routes: [Route] = []

    package init() {}

    package func get(_ path: String..., use handler: @escaping Route.AsyncHandler) {
        add(.get, path, .asynchronous(handler))
    }

    /// A handler that doesn't wait for anything runs on the connection's loop, without a task.
    package func get(_ path: String..., immediately handler: @escaping Route.Handler) {
        add(.get, path, .synchronous(handler))
    }

    package func post(_ path: String..., use handler: @escaping Route.AsyncHandler) {
        add(.post, path, .asynchronous(handler))
    }

    package func delete(_ path: String..., use handler: @escaping Route.AsyncHandler) {
        add(.delete, path, .asynchronous(handler))
    }

    /// A route whose requests become WebSockets.
    ///
    /// - Parameters:
    ///   - path: The path's segments.
    ///   - loop: The index of the loop on which the connection is to live, taken modulo the number of loops; the
    ///     connection moves there before `admit` is asked. `nil`: it stays where it is.
    ///   - admit: Whether the request may become a WebSocket; asked before the handshake is looked at, also for a
    ///     request that wants no upgrade at all.
    ///   - compression: What to answer to offers of permessage-deflate.
    ///   - onUpgrade: Called when the connection is a WebSocket; gives it its handler.
    package func webSocket(
        _ path: String..., loop: @escaping WebSocketRoute.Affinity = { _ in nil },
        admit: @escaping WebSocketRoute.Admit = { _, _ in .admitted },
        compression: WebSocketCompression = .none,
        onUpgrade: @escaping WebSocketRoute.OnUpgrade
    ) {
        let route = WebSocketRoute(affinity: loop, admit: admit, compression: compression, onUpgrade: onUpgrade)
        add(.get, path, .webSocket(route))
    }

    package func register(collection: any RouteCollection) {
        collection.boot(routes: self)
    }

    private func add(_ method: HTTPMethod, _ path: [String], _ endpoint: Route.Endpoint) {
        routes.append(Route(method: method, path: path, endpoint: endpoint))
    }
}

/// Routes that belong together: a controller.
package protocol RouteCollection {
    /// Adds the collection's routes.
    func boot(routes: RoutesBuilder)
}
