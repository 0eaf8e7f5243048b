import Basics
package import Domain
package import Observability
package import Postgres

/// The number of stored rows, and the removal of unused addresses. Every operation is one statement. Throws
/// `PostgresError`.
package struct StorageStore: Sendable {
    /// The statements' names in metrics.
    package static let statementNames = [stored, deleteUnused, analyzeGrown].map(\.name)

    private static let stored = PostgresStatement(name: "stored", sql: "SELECT * FROM letsswitch.stored()")
    private static let deleteUnused = PostgresStatement(
        name: "delete_unused", sql: "SELECT letsswitch.delete_unused($1, $2) AS taken")

    private static let analyzeGrown = PostgresStatement(
        name: "analyze_grown", sql: "SELECT letsswitch.analyze_grown() AS count")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// Returns the approximate number of rows of each table.
    package func counts() async throws -> [StoredTable: Int] {
        var counts: [StoredTable: Int] = [:]
        for row in try await database.query(Self.stored, [], timeout: nil) {
            guard let table = StoredTable(rawValue: try row.string("name")) else { continue }
            counts[table] = try row.integer("rows")
        }
        return counts
    }

    /// Removes addresses and calendars that were unused for `retention` seconds, at most `limit` of each. Returns the
    /// number of rows it looked at; there may be more until that is 0.
    package func deleteUnused(retention: Double, limit: Int = 1000) async throws -> Int {
        let rows = try await database.query(
            Self.deleteUnused, [.double(retention), .integer(limit)], timeout: nil)
        return try rows[0].integer("taken")
    }

    /// Collects statistics of tables that have grown much. Returns the number of tables.
    @discardableResult
    package func analyzeGrown() async throws -> Int {
        try await database.query(Self.analyzeGrown)[0].integer("count")
    }
}

/// Counts the stored rows regularly, and removes unused addresses.
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
