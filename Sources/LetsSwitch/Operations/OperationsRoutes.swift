import Server
import Wire

/// For operators: `GET /healthz`, `GET /readyz`, `GET /metrics`.
struct OperationsRoutes: RouteCollection, Sendable {
    let readiness: @Sendable () async -> Readiness
    let metrics: @Sendable () async -> [UInt8]

    func boot(routes: RoutesBuilder) {
        let healthy = Response.json(Array(#"{"status":"ok"}"#.utf8))
        routes.get("healthz", immediately: { _ in healthy })
        routes.get("readyz", use: ready)
        routes.get("metrics") { _ in
            Response(
                headers: [HTTPField("Content-Type", MetricsText.contentType)], body: .bytes(await metrics()))
        }
    }

    @Sendable private func ready(_ request: Request) async -> Response {
        let readiness = await readiness()
        var json = JSONText()
        json.object { object in
            object.member("ready", readiness.isReady)
            object.member("database", readiness.database)
            object.member("migrated", readiness.migrated)
            object.member("draining", readiness.draining)
        }
        return .json(
            json.bytes, status: readiness.isReady ? .ok : .serviceUnavailable,
            headers: readiness.isReady ? [] : [HTTPField("Retry-After", "1")])
    }
}

/// Whether requests that need the database can be answered.
struct Readiness: Sendable, Equatable {
    /// The database answered just now.
    var database: Bool
    var migrated: Bool
    var draining: Bool

    var isReady: Bool { database && migrated && !draining }
}
