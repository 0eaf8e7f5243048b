import Server
import Wire

/// The page for browsers: `GET /`, and what it consists of below `/page/`.
struct PageRoutes: RouteCollection, Sendable {
    private let shelf: PageShelf

    init(_ configuration: Configuration) {
        shelf = PageShelf(configuration)
    }

    func boot(routes: RoutesBuilder) {
        routes.get { try await shelf.assets().document.response(to: $0.head) }
        routes.get("page", ":name") { request in
            guard let name = request.parameters["name"], let asset = try await shelf.assets().files[name] else {
                throw Abort(.notFound, reason: "There is nothing at \(request.head.rawPath).")
            }
            return asset.response(to: request.head)
        }
    }
}
