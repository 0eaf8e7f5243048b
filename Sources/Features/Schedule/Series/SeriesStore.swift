package import Domain
import FoundationEssentials
package import Postgres

/// Series in the database. Every change is one statement, and SQL/series.sql decides.
///
/// Throws a refusal as `RequestError`, and otherwise throws like ``ScheduleStore``.
package struct SeriesStore: Sendable {
    /// The names of the statements, for metrics.
    package static let statementNames = Statement.all.map(\.name)

    /// The statements. Each runs in a transaction of its own.
    private enum Statement {
        static let all = [begin, rename, end, list, extendNext]

        static let begin = TaskRow.statement(calling: "begin_series", parameters: 13)
        static let rename = TaskRow.statement(calling: "rename_series", parameters: 4)
        static let end = TaskRow.statement(calling: "end_series", parameters: 2)
        static let list = PostgresStatement(
            name: "list_series",
            sql: """
                SELECT \(TaskRow.columns)
                FROM (SELECT listed.*, (listed.promise).* FROM schedule.list_series($1) AS listed) AS task
                """)
        static let extendNext = TaskRow.statement(calling: "extend_next_series", parameters: 7)
    }

    private let database: PostgresClient
    private let settings: ScheduleSettings
    private let storage: StorageQuota
    private let unusedAfter: Duration

    /// - Parameter unusedAfter: A series ends after this time without any activity.
    package init(
        database: PostgresClient, settings: ScheduleSettings, storage: StorageQuota = StorageQuota(),
        unusedAfter: Duration = StorageLimits().addressRetention
    ) {
        self.database = database
        self.unusedAfter = unusedAfter
        self.settings = settings
        self.storage = storage
    }

    /// Creates a series and its first tasks. If the device already has the same series, returns the existing series.
    ///
    /// - Parameter report: Receives the created tasks as soon as they are stored. Later steps may throw, but the tasks
    ///   exist and must be reported.
    package func begin(
        _ request: SeriesRequest, report: (SeriesTasks) async -> Void = { _ in }
    ) async throws -> SeriesBeginning {
        let tasks = storage.reserve(in: .tasks, count: mostTasks(of: request))
        let series = storage.reserve(in: .series)
        let parameters: [PostgresParameter] =
            [
                .text(UUID().text), .text(request.device.text), .text(request.title),
                .integer(request.startTime.seconds), .text(request.timeZone), .integer(request.days.rawValue),
                request.until.map { .integer($0.days) } ?? .null, .integer(settings.seriesDays),
            ] + [settings.reminderLead, settings.horizon, settings.roomDuration].map(seconds) + [
                .integer(tasks.isGranted ? settings.maxTasksPerDevice : 0),
                .integer(series.isGranted ? settings.maxSeriesPerDevice : 0),
            ]
        let rows = try await storage.using(tasks) {
            try await storage.using(series) { try await self.rows(Statement.begin, parameters) }
        }
        let code = rows.first?.code ?? ""
        storage.giveBack(tasks, used: rows.count - 1)
        if code != "begun" { storage.giveBack(series) }
        switch code {
        case "begun": storage.added(.series)
        case "repeated": break
        case "too_many_series": throw try series.refusal ?? refusal(code)
        case "too_many_tasks": throw try tasks.refusal ?? refusal(code)
        default: throw try refusal(code)
        }
        let changes = try SeriesTasks(Array(rows.dropFirst()))
        for _ in changes.made { storage.added(.tasks) }
        await report(changes)
        let own = try await list(of: request.device).first {
            $0.startTime == request.startTime && $0.timeZone == request.timeZone && $0.days == request.days
        }
        // The series may have ended after it was stored.
        guard let own else { throw try refusal("no_such_series") }
        return SeriesBeginning(series: own, isNew: code == "begun", tasks: changes)
    }

    /// Returns the maximum number of tasks that a new series creates at once.
    package func mostTasks(of request: SeriesRequest) -> Int {
        min(request.days.names.count * ((settings.seriesDays + 7) / 7), settings.seriesDays + 1)
    }

    /// Returns all series of a device.
    package func list(of device: DeviceID) async throws -> [Series] {
        try [Series](
            await database.query(Statement.list, [.text(device.text)], timeout: nil), of: device)
    }

    /// Renames a series, and returns the changed series. For `report` see ``begin(_:report:)``.
    package func rename(
        _ request: SeriesRenaming, report: (SeriesTasks) async -> Void = { _ in }
    ) async throws -> (Series, SeriesTasks) {
        let rows = try await rows(
            Statement.rename,
            [
                .text(request.series.device.text), .text(request.series.id.text), .text(request.title),
                request.from.map { .integer($0.days) } ?? .null,
            ])
        guard rows.first?.code == "renamed" else { throw try refusal(rows.first?.code ?? "") }
        let tasks = try SeriesTasks(rows)
        await report(tasks)
        return (try await find(request.series), tasks)
    }

    /// Ends a series, and cancels its tasks. Returns the ended series with the tasks that aren't cancelled: those that
    /// have a partner, or that start so soon that they can't be cancelled any more.
    package func end(_ series: OwnSeries) async throws -> (Series, SeriesTasks) {
        var own = try await find(series)
        let rows = try await rows(Statement.end, [.text(series.device.text), .text(series.id.text)])
        guard rows.first?.code == "ended" else { throw try refusal(rows.first?.code ?? "") }
        own.tasks = rows.compactMap { $0.code == "cancelled" ? nil : $0.task }
        return (own, try SeriesTasks(rows))
    }

    /// Creates the next tasks of one series, if any are due.
    ///
    /// - Returns: `nil` if none are due now.
    package func extendNext() async throws -> SeriesTasks? {
        let rows = try await rows(
            Statement.extendNext,
            [.integer(settings.seriesDays)]
                + [settings.reminderLead, settings.horizon, settings.roomDuration, settings.lateJoinWindow].map(seconds)
                + [.integer(storage.isFull(.tasks) ? 0 : settings.maxTasksPerDevice), seconds(unusedAfter)])
        guard !rows.isEmpty else { return nil }
        let tasks = try SeriesTasks(rows)
        for _ in tasks.made { storage.added(.tasks) }
        return tasks
    }

    /// Throws `404` if the device has no such series.
    package func find(_ series: OwnSeries) async throws -> Series {
        guard let own = try await list(of: series.device).first(where: { $0.id == series.id }) else {
            throw try refusal("no_such_series")
        }
        return own
    }

    private func rows(_ statement: PostgresStatement, _ parameters: [PostgresParameter]) async throws -> [TaskRow] {
        try await database.query(namingZone: statement, parameters).map(TaskRow.init)
    }

    private func seconds(_ duration: Duration) -> PostgresParameter { .double(duration / .seconds(1)) }

    /// Returns the answer for a refusal's code. Throws for an unknown code.
    private func refusal(_ code: String) throws -> RequestError {
        switch code {
        case "no_such_series":
            return RequestError(status: 404, code: code, reason: "This device has no such series.")
        case "series_exists":
            return RequestError(
                status: 409, code: code,
                reason: "This device already has another series at this time on one of these days.")
        case "until_past":
            return .invalid("until", "must not be in the past")
        case "too_many_series":
            return RequestError(
                status: 429, code: code,
                reason: "This device already has \(settings.maxSeriesPerDevice) series, the maximum.",
                quota: .seriesPerDevice)
        case "too_many_tasks":
            return .tooManyTasks(settings.maxTasksPerDevice)
        default:
            throw PostgresError(kind: .decoding, message: "unknown outcome \(code)")
        }
    }
}

/// The result of `POST /series`.
package struct SeriesBeginning: Hashable, Sendable {
    package let series: Series
    /// The status is `201` if the series is new, and `200` if it existed.
    package let isNew: Bool
    package let tasks: SeriesTasks
}
