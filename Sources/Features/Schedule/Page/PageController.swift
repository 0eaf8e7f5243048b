import Pages
package import Server
import Wire

/// Serves the page for browsers at `GET /`, and its files below `/page/`.
package struct PageController: RouteCollection {
    private let cache: PageAssetCache

    package init(_ facts: PageFacts) {
        cache = PageAssetCache(facts)
    }

    package func boot(routes: RoutesBuilder) {
        routes.get(as: PageDescriptions.document) { try await cache.assets().document.response(to: $0.head) }
        routes.get("page", ":name", as: PageDescriptions.asset) { request in
            guard let name = request.parameters["name"], let asset = try await cache.assets().files[name] else {
                throw Abort(.notFound, reason: "There is nothing at \(request.head.rawPath).")
            }
            return asset.response(to: request.head)
        }
    }
}

/// Prepares the page's files at the first request. A daemon without browsers doesn't load OpenSSL and zlib for the
/// page. The two libraries take two megabytes.
actor PageAssetCache {
    private let facts: PageFacts
    private var ready: PageAssets?

    init(_ facts: PageFacts) {
        self.facts = facts
    }

    /// - Throws: ``CryptoError`` if SHA-256 is unavailable.
    func assets() throws -> PageAssets {
        if let ready { return ready }
        let assets = try PageAssets(facts)
        ready = assets
        return assets
    }
}
