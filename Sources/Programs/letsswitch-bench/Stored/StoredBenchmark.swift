import FoundationEssentials
import Glibc
import Postgres

/// Measures each call into the database with a thousand tasks and messages stored, and with a million of each. The
/// plans logged by `auto_explain` show whether a call scans a whole table.
struct StoredBenchmark {
    private static let sizes = [1_000, 1_000_000]
    private static let quickSizes = [1_000, 2_000]
    /// The number of timed calls of each kind.
    private static let calls = 200
    /// The limit of a call's time with many rows over its time with few. An index then has more levels, and less of it
    /// is cached.
    private static let flat = 2.0

    let laboratory: Laboratory

    func run() throws -> Findings {
        // Runs the migrations and stops, so that only the benchmark uses the tables.
        let daemon = try laboratory.daemon(flags: [])
        try awaitMigrations()
        daemon.process.stop()
        let sizes = laboratory.options.isQuick ? Self.quickSizes : Self.sizes
        let now = Int(WallClock.now()) / 3_600 * 3_600
        var findings = Findings("Calls into the database, by the tasks, and by the messages, that are stored")
        var first: [String: Double] = [:]
        for size in sizes {
            let start = WallClock.now()
            try laboratory.execute(
                [StoredTasks.fill(size, now: now), StoredMessages.fill(size), "VACUUM ANALYZE"],
                timeout: .seconds(600))
            Terminal.note(
                "\(Column.grouped(size)) tasks, and as many messages, stored in \(Column.number(WallClock.now() - start)) s"
            )
            for (call, time) in try times(StoredCall.all(size, now: now) + StoredMessages.calls(size)) {
                let what = "\(call.name), \(Column.grouped(size)) stored"
                if let few = first[call.name], call.isAlike {
                    findings.add(what, time, "µs", atMost: max(few * Self.flat, few + 100))
                } else {
                    findings.add(what, time, "µs")
                    first[call.name] = time
                }
            }
        }
        let plans = try plans()
        findings.add("plans seen", Double(plans.split(separator: "Query Text:").count - 1), "")
        findings.add("index scans in them", Double(plans.ranges(of: "Index ").count), "")
        // A sequence has one row and is always scanned. The table of providers has at most four rows and is always
        // scanned too.
        let scans = plans.ranges(of: /Seq Scan on [a-z]+\.(?!(?:batch|provider) )/).count
        findings.add("sequential scans of tables in them", scans, exactly: 0)
        if let path = laboratory.options.plans {
            do {
                try plans.write(toFile: path, atomically: false, encoding: .utf8)
            } catch {
                throw BenchFailure("\(path): \(error)")
            }
        }
        return findings
    }

    /// A daemon whose database isn't ready listens after a while without it.
    private func awaitMigrations() throws {
        let deadline = ContinuousClock.now + .seconds(60)
        let claims = "SELECT to_regclass('reminders.claim')::text AS name"
        while try laboratory.query(claims, timeout: .seconds(60))[0].optionalString("name") == nil {
            guard ContinuousClock.now < deadline else { throw BenchFailure("the daemon doesn't migrate its database") }
            usleep(50_000)
        }
    }

    /// The median time of each call, in microseconds. The first call of each kind is planned and logged but not timed.
    private func times(_ calls: [StoredCall]) throws -> [(StoredCall, Double)] {
        let count = laboratory.options.isQuick ? 5 : Self.calls
        return try laboratory.session(with: PlannerSettings.settings) { session in
            try await session.execute("LOAD 'auto_explain'; SET auto_explain.log_nested_statements = on")
            try await session.execute("SET auto_explain.log_verbose = on")
            var times: [(StoredCall, Double)] = []
            for call in calls {
                var samples: [Double] = []
                for run in 0...count {
                    if let preparation = call.preparation { try await session.execute(preparation(run)) }
                    try await session.execute("SET auto_explain.log_min_duration = \(run == 0 ? 0 : -1)")
                    let start = ContinuousClock.now
                    try await session.execute(call.sql(run), timeout: .seconds(60))
                    try await session.execute("SET auto_explain.log_min_duration = -1")
                    if run > 0 { samples.append((ContinuousClock.now - start) / .microseconds(1)) }
                }
                times.append((call, samples.median))
            }
            return times
        }
    }

    /// The server's log.
    private func plans() throws(BenchFailure) -> String {
        let directory = "\(laboratory.directory)/postgres/data/log"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let text = names.sorted().compactMap { FileManager.default.contents(atPath: "\(directory)/\($0)") }
            .map { String(decoding: $0, as: UTF8.self) }.joined()
        guard text.contains("Query Text:") else { throw BenchFailure("auto_explain logged nothing in \(directory)") }
        return text
    }
}
