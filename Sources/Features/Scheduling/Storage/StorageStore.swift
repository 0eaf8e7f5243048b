import Basics
package import Domain
package import Observability
package import Postgres

/// How much is stored, and forgetting what nobody uses. Every operation is one statement. Throws `PostgresError`.
package struct StorageStore: Sendable {
    /// The names that metrics go by.
    package static let statementNames = [stored, forgetUnused].map(\.name)

    private static let stored = PostgresStatement(name: "stored", sql: "SELECT * FROM letsswitch.stored()")
    private static let forgetUnused = PostgresStatement(
        name: "forget_unused", sql: "SELECT letsswitch.forget_unused($1, $2) AS taken")

    private let database: PostgresClient

    package init(database: PostgresClient) {
        self.database = database
    }

    /// About how many rows each table has.
    package func counts() async throws -> [StoredTable: Int] {
        var counts: [StoredTable: Int] = [:]
        for row in try await database.query(Self.stored, [], timeout: nil) {
            guard let table = StoredTable(rawValue: try row.string("name")) else { continue }
            counts[table] = try row.integer("rows")
        }
        return counts
    }

    /// Forgets addresses and calendars that nobody has used for `retention` seconds, `limit` of each. Returns how many it looked at:
    /// there may be more until that is 0.
    package func forgetUnused(retention: Double, limit: Int = 1000) async throws -> Int {
        let rows = try await database.query(
            Self.forgetUnused, [.double(retention), .integer(limit)], timeout: nil)
        return try rows[0].integer("taken")
    }
}

/// Looks now and then how much is stored, and forgets where nobody is reached any more.
package actor StorageMonitor: Service {
    /// Between two looks. They cost the database a few milliseconds.
    private static let interval = Duration.seconds(10)
    private static let mostLooks = 3
    private static let purgeInterval = Duration.seconds(3600)
    /// Helpings of one purge; what is left waits for the next.
    private static let mostHelpings = 1000

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

    /// What fails is tried again at the next look.
    package func run() async {
        guard !isStopped else { return }
        let work = Task { await self.monitor() }
        self.work = work
        await work.value
    }

    /// A statement that is under way is given up.
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
                if MonotonicTime.now() >= purgesAt {
                    try await purge()
                    purgesAt = .now() + Self.purgeInterval
                }
                lastFailure = nil
            } catch let error as PostgresError where error.isUnavailable {
                // Others say so.
            } catch {
                guard !Task.isCancelled else { return }
                let text = "\(error)"
                if text != lastFailure { log.error("failed to count the stored rows", ["error": .string(text)]) }
                lastFailure = text
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// Whoever adds something while it is counted has it counted for certain, and perhaps twice until the next look: so one more is worth it.
    private func look() async throws {
        for _ in 0..<Self.mostLooks {
            let before = quota.added
            quota.found(try await store.counts(), since: before)
            if quota.added == before { return }
        }
    }

    private func purge() async throws {
        let retention = quota.limits.addressRetention / .seconds(1)
        for _ in 0..<Self.mostHelpings where !Task.isCancelled {
            if try await store.forgetUnused(retention: retention) == 0 { return }
        }
    }
}
