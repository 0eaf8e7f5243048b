import Server
import Wire

/// The page for browsers: `GET /`, and what it consists of below `/page/`.
struct PageRoutes: RouteCollection, Sendable {
    private let assets: PageAssets

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    init(_ configuration: Configuration) throws {
        assets = try PageAssets(configuration)
    }

    func boot(routes: RoutesBuilder) {
        routes.get(immediately: { assets.document.response(to: $0.head) })
        routes.get(
            "page", ":name",
            immediately: { request in
                guard let asset = request.parameters["name"].flatMap({ assets.files[$0] }) else {
                    throw Abort(.notFound, reason: "There is nothing at \(request.head.rawPath).")
                }
                return asset.response(to: request.head)
            })
    }
}
