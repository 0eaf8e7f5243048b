import Domain
import Observability
import Server
import Wire

/// Manages tasks that repeat on certain days of every week: `POST /series`, `GET /series`, `POST /series/{id}`, `DELETE
/// /series/{id}`.
struct SeriesController: RouteCollection {
    let store: SeriesStore
    let ending: SeriesEnding
    let zones: TimeZoneDirectory
    let news: TaskNews
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("series", as: SeriesDescriptions.begin, registers: true, use: begin)
        routes.get("series", as: SeriesDescriptions.list, use: list)
        routes.post("series", ":id", as: SeriesDescriptions.rename, use: rename)
        routes.delete("series", ":id", as: SeriesDescriptions.end, use: end)
    }

    @Sendable private func begin(_ request: Request) async throws -> Response {
        let asked = try SeriesRequest.decode(request.body, zones: await zones.names())
        try await news.plan.checkWorking()
        // The route's rate has counted one registration. Each task of a series counts, too.
        let most = store.mostTasks(of: asked)
        if let seconds = request.wait(for: .registration, times: most) {
            throw RequestError.tooManyRegistrations(retryAfter: seconds)
        }
        let begun = try await store.begin(asked, report: news.seriesChanged)
        request.giveBack(.registration, times: most - begun.tasks.made.count)
        if begun.isNew { log.info("series created", begun.series.logged) }
        return .json(begun.series.json, status: begun.isNew ? .created : .ok)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        .json(try await store.list(of: try DeviceID(request.query("deviceId"))).json)
    }

    @Sendable private func rename(_ request: Request) async throws -> Response {
        let asked = try SeriesRenaming.decode(id: request.pathID, request.body)
        let (series, _) = try await store.rename(asked, report: news.seriesChanged)
        return .json(series.json)
    }

    @Sendable private func end(_ request: Request) async throws -> Response {
        let series = try request.ownSeries(of: request.query("deviceId"))
        let ended = try await ending.end(series, leaves: request.query("leave") == "true")
        log.info("series ended", ended.logged)
        return .json(ended.json)
    }
}
