package import Server
import Wire

/// The page for browsers: `GET /`, and what it consists of below `/page/`.
package struct PageController: RouteCollection, Sendable {
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

/// Makes the page's files ready once, when the first browser asks: a daemon that nobody visits by browser need not have
/// OpenSSL and zlib in memory for them, which is two megabytes.
actor PageAssetCache {
    private let facts: PageFacts
    private var ready: PageAssets?

    init(_ facts: PageFacts) {
        self.facts = facts
    }

    /// - Throws: ``CryptoError`` when there is no SHA-256.
    func assets() throws -> PageAssets {
        if let ready { return ready }
        let assets = try PageAssets(facts)
        ready = assets
        return assets
    }
}
