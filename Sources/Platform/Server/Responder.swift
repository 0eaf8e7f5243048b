import Wire

/// The routes, and the meaning of their handlers' errors.
package struct Responder: Sendable {
    let router: Router
    /// The executor of asynchronous handlers.
    let executor: (any TaskExecutor)?
    private let mapError: @Sendable (any Error) -> Abort

    /// - Parameters:
    ///   - executor: The executor of asynchronous handlers; `nil` for Swift's own threads. Use the executor of the
    ///     service that handlers mostly wait for: this saves two changes of threads per request.
    ///   - mapError: Converts a handler's error to a response. It isn't called for an ``Abort``.
    ///   - audience: The audience of routes that don't set one.
    ///   - routes: Adds the routes.
    package init(
        on executor: (any TaskExecutor)? = nil, mapError: @escaping @Sendable (any Error) -> Abort,
        audience: Audience = .everyone, routes: (RoutesBuilder) -> Void
    ) {
        self.executor = executor
        self.mapError = mapError
        let builder = RoutesBuilder(for: audience)
        routes(builder)
        router = Router(routes: builder.routes)
    }

    func respond(to request: Request, with handler: Route.Handler) -> Response {
        do {
            return try handler(request)
        } catch {
            return response(to: error)
        }
    }

    func respond(to request: Request, with handler: Route.AsyncHandler) async -> Response {
        do {
            return try await handler(request)
        } catch {
            return response(to: error)
        }
    }

    func response(to error: any Error) -> Response {
        Response(error as? Abort ?? mapError(error))
    }
}
