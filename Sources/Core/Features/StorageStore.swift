import Basics
package import Domain
package import Observability
package import Postgres

/// The numbers of stored rows, and the deletion of what nobody uses. Every operation is one statement. Throws
/// `PostgresError`.
package struct StorageStore: Sendable {
    /// The statements' names in metrics.
    package static let statementNames = ["stored", "delete_unused", "analyze_grown"]

    private let database: PostgresClient
    private let stored: PostgresStatement
    private let deleteUnused: PostgresStatement?
    private let analyzeGrown: PostgresStatement

    /// - Parameter parts: The schema that all features share, and the schemas of the features that are on.
    package init(database: PostgresClient, parts: [FeatureSchema]) {
        self.database = database
        let tables = parts.flatMap { $0.limited }.flatMap { limit in limit.value.map { (limit.key.rawValue, $0) } }
        stored = PostgresStatement(
            name: "stored",
            sql: """
                SELECT name, sum(core.stored(place::regclass))::bigint AS rows
                FROM (VALUES \(tables.map { "('\($0)', '\($1)')" }.joined(separator: ", "))) AS counted (name, place)
                GROUP BY name
                """)
        let deleting = parts.compactMap { $0.function(.deleteUnused) }
        deleteUnused =
            deleting.isEmpty
            ? nil
            : PostgresStatement(
                name: "delete_unused",
                sql: "SELECT \(deleting.map { "\($0)($1, $2)" }.joined(separator: " + ")) AS count")
        analyzeGrown = PostgresStatement(
            name: "analyze_grown",
            sql: "SELECT core.analyze_grown('{\(parts.map(\.name).joined(separator: ","))}') AS count")
    }

    /// Returns the approximate number of rows of each table.
    package func counts() async throws -> [StoredTable: Int] {
        var counts: [StoredTable: Int] = [:]
        for row in try await database.query(stored, [], timeout: nil) {
            guard let table = StoredTable(rawValue: try row.string("name")) else { continue }
            counts[table] = try row.integer("rows")
        }
        return counts
    }

    /// Deletes what was unused for `retention` seconds, at most `limit` rows of each kind. Returns the number of rows it
    /// looked at; there may be more until that is 0.
    package func deleteUnused(retention: Double, limit: Int = 1000) async throws -> Int {
        guard let deleteUnused else { return 0 }
        return try await database.query(deleteUnused, [.double(retention), .integer(limit)], timeout: nil)[0]
            .integer("count")
    }

    /// Collects statistics of tables that have grown much. Returns the number of tables.
    @discardableResult
    package func analyzeGrown() async throws -> Int {
        try await database.query(analyzeGrown)[0].integer("count")
    }
}

/// Counts the stored rows regularly, and deletes what nobody uses.
package actor StorageMonitor: Service {
    /// The interval of counts, which take the database a few milliseconds.
    private static let interval = Duration.seconds(10)
    private static let mostLooks = 3
    private static let purgeInterval = Duration.seconds(3600)
    /// The maximum number of steps in one purge. The rest waits for the next.
    private static let mostBatches = 1000

    private let store: StorageStore
    package nonisolated let quota: StorageQuota
    private let log: Log
    private var work: Task<Void, Never>?
    private var isStopped = false

    package init(store: StorageStore, quota: StorageQuota, log: Log) {
        self.store = store
        self.quota = quota
        self.log = log
    }

    /// A failure is retried at the next count.
    package func run() async {
        guard !isStopped else { return }
        let work = Task { await self.monitor() }
        self.work = work
        await work.value
    }

    /// A statement in progress is abandoned.
    package func stop(within limit: Duration) async {
        isStopped = true
        work?.cancel()
    }

    private func monitor() async {
        var purgesAt = MonotonicTime.now()
        var lastFailure: String?
        while !Task.isCancelled {
            do {
                try await look()
                try await store.analyzeGrown()
                if MonotonicTime.now() >= purgesAt {
                    try await purge()
                    purgesAt = .now() + Self.purgeInterval
                }
                lastFailure = nil
            } catch let error as PostgresError where error.isUnavailable {
                // Logged elsewhere.
            } catch {
                guard !Task.isCancelled else { return }
                let text = "\(error)"
                if text != lastFailure { log.error("failed to count the stored rows", ["error": .string(text)]) }
                lastFailure = text
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// A row added during a count is certainly counted, perhaps twice until the next one. Another count corrects it.
    private func look() async throws {
        for _ in 0..<Self.mostLooks {
            let before = quota.added
            quota.found(try await store.counts(), since: before)
            if quota.added == before { return }
        }
    }

    private func purge() async throws {
        let retention = quota.limits.addressRetention / .seconds(1)
        for _ in 0..<Self.mostBatches where !Task.isCancelled {
            if try await store.deleteUnused(retention: retention) == 0 { return }
        }
    }
}
