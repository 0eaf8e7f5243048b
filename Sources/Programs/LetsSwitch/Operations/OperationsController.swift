import Observability
import Server
import Wire

/// Serves operators: `GET /healthz`, `GET /readyz`, `GET /metrics`.
struct OperationsController: RouteCollection {
    let readiness: @Sendable () async -> Readiness
    let metrics: @Sendable () async -> [UInt8]

    func boot(routes: RoutesBuilder) {
        let healthy = Response.json(Array(#"{"status":"ok"}"#.utf8))
        routes.group(for: .everyone) { routes in
            routes.groupForAnyHost {
                $0.get("healthz", as: OperationsDescriptions.health, immediately: { _ in healthy })
            }
        }
        routes.group(for: .operators) { routes in
            routes.get("readyz", as: OperationsDescriptions.ready, use: ready)
            routes.get("metrics", as: OperationsDescriptions.metrics) { _ in
                Response(
                    headers: [HTTPField("Content-Type", MetricsText.contentType)], body: .bytes(await metrics()))
            }
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
            object.member("reason", readiness.reason)
        }
        return .json(
            json.bytes, status: readiness.isReady ? .ok : .serviceUnavailable,
            headers: readiness.isReady ? [] : [HTTPField("Retry-After", "1")])
    }
}

/// Whether requests that need the database can be answered, and whether reminders are sent.
struct Readiness: Sendable, Equatable {
    /// Whether the database has just answered.
    var database: Bool
    var migrated: Bool
    var draining: Bool
    /// How long claims have been delayed; `nil` if the delay is normal.
    var schedulerLateness: Duration?

    var isReady: Bool { reason == nil }

    /// The reason why the daemon isn't ready. `nil` if it is.
    var reason: String? {
        if draining { return "The server is stopping." }
        if !database { return "The database doesn't answer, or can't be written to." }
        if !migrated { return "The database's schema isn't ready yet." }
        return schedulerLateness.map { lateness in
            "Reminders are late: the scheduler has made no progress for \(lateness.components.seconds) seconds."
        }
    }
}

extension Audience {
    /// The users of the server.
    static let people = Audience(rawValue: 1)
    /// The operators of the server.
    static let operators = Audience(rawValue: 2)
}
