import Domain
import FoundationEssentials
import LiveSchedule
import Observability
import Scheduling
import Server
import Wire

/// The same promise on certain days of every week: `POST /series`, `GET /series`, `POST /series/{id}`, `DELETE /series/{id}`.
struct SeriesController: RouteCollection, Sendable {
    let store: SeriesStore
    let partners: PartnerStore
    /// The zones that requests may name; throws `503` before they are known.
    let zones: @Sendable () async throws(RequestError) -> TimeZoneNames
    let news: SeriesNews
    let log: Log

    func boot(routes: RoutesBuilder) {
        routes.post("series", as: SeriesDescriptions.begin, registers: true, use: begin)
        routes.get("series", as: SeriesDescriptions.list, use: list)
        routes.post("series", ":id", as: SeriesDescriptions.rename, use: rename)
        routes.delete("series", ":id", as: SeriesDescriptions.end, use: end)
    }

    @Sendable private func begin(_ request: Request) async throws -> Response {
        let asked = try SeriesRequest.decode(request.body, zones: await zones())
        let begun = try await store.begin(asked, tell: news.tell)
        if begun.isNew { log.info("series begun", describe(begun.series)) }
        return .json(begun.series.json, status: begun.isNew ? .created : .ok)
    }

    @Sendable private func list(_ request: Request) async throws -> Response {
        .json(try await store.list(of: try DeviceID(request.query("deviceId"))).json)
    }

    @Sendable private func rename(_ request: Request) async throws -> Response {
        let asked = try SeriesRenaming.decode(id: request.parameters["id"] ?? "", request.body)
        let (series, _) = try await store.rename(asked, tell: news.tell)
        return .json(series.json)
    }

    @Sendable private func end(_ request: Request) async throws -> Response {
        let asked = try OwnSeries(id: request.parameters["id"] ?? "", deviceId: request.query("deviceId"))
        let leaves = request.query("leave") == "true"
        if leaves {
            // As long as the series is there a repeat goes on where this was interrupted.
            for task in try await store.find(asked).tasks where task.isPaired { _ = try await leave(task) }
        }
        var (series, promises) = try await store.end(asked)
        await news.tell(promises)
        if leaves {
            var staying: [TaskResponse] = []
            for task in series.tasks {
                if try await !leave(task) { staying.append(task) }
            }
            series.tasks = staying
        }
        log.info("series ended", describe(series))
        return .json(series.json)
    }

    /// Takes a promise back that somebody counts on; false when it is too late.
    private func leave(_ task: TaskResponse) async throws -> Bool {
        switch try await partners.leave(OwnTask(id: task.id, device: task.device)) {
        case .done(_, _, let newMatches):
            news.left(newMatches: newMatches)
            return true
        case .unchanged: return false
        case .refused(let error): return error.code == "no_such_task"
        }
    }

    private func describe(_ series: Series) -> Log.Values {
        [
            "series": .string(series.id.text), "device": .device(series.device),
            "startTime": .string("\(series.startTime)"), "timeZone": .string(series.timeZone),
        ]
    }
}

/// Tells of what became of the promises of series, as of those that are made by hand.
struct SeriesNews: Sendable {
    let changes: ScheduleChanges
    let metrics: SchedulingMetrics
    /// Told when a task is due; epoch seconds.
    let registered: @Sendable (Double) async -> Void
    /// Called when an event was written: the webhook may be told of it.
    let eventWritten: @Sendable () -> Void

    func tell(_ promises: SeriesPromises) async {
        guard !promises.isEmpty else { return }
        metrics.tasks.add(.registered, promises.made.count)
        metrics.tasks.add(.retitled, promises.retitled)
        metrics.tasks.add(.cancelled, promises.cancelled)
        metrics.tasks.add(.moved, promises.moved.count)
        metrics.pairs.add(promises.newMatches)
        if let first = (promises.made + promises.moved).map(\.remindsAt.seconds).min() {
            await registered(Double(first))
        }
        eventWritten()
        for change in promises.changes { await changes.publish(change) }
    }

    func left(newMatches: Int) {
        metrics.tasks.add(.left)
        metrics.pairs.add(newMatches)
        eventWritten()
    }
}
