import Wire

/// What answers requests: the routes, and what their handlers' errors mean.
package struct Responder: Sendable {
    let router: Router
    /// Where handlers that wait for something run.
    let executor: (any TaskExecutor)?
    private let mapError: @Sendable (any Error) -> Abort

    /// - Parameters:
    ///   - executor: Where handlers run that wait for something; `nil` for Swift's own threads. That of what they mostly wait for saves
    ///     two changes of thread a request.
    ///   - mapError: What a handler's error means to the client; an ``Abort`` speaks for itself and doesn't come here.
    ///   - audience: For whom the routes are that say nothing else.
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

    /// The refusal that `find` throws; `nil` when it throws none.
    func refusal(from find: @Sendable () async throws -> Void) async -> Response? {
        do {
            try await find()
            return nil
        } catch {
            return response(to: error)
        }
    }

    func response(to error: any Error) -> Response {
        Response(error as? Abort ?? mapError(error))
    }
}
