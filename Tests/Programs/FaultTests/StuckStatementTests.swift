import Foundation
import JourneyTestSupport
import Postgres
import Settings
import TestSupport
import Testing

/// Statements that hang, and more and more requests that send the same statement.
@Suite struct StuckStatementTests {
    @Test(
        "The number of connections and the time of statements stay within their limits")
    func stuck() async throws {
        let cluster = try await TestCluster.dedicated()
        try await Journey.run(on: cluster, timeouts: .documented) { journey in
            let endpoint = try await journey.daemon {
                $0.database = .url(journey.faultyConninfo)
                $0.postgres.maxConnections = 4
                $0.postgres.queryTimeout = .seconds(3)
            }
            let limit = 4 + Configuration.connectionsBesideRequests
            let start = try await journey.instant(in: 86_400)
            try await endpoint.register("ada", start)
            let holder = try await journey.connect()
            try await holder.execute("BEGIN")
            try await holder.execute("LOCK TABLE schedule.task IN ACCESS EXCLUSIVE MODE")

            let active = """
                FROM pg_stat_activity WHERE application_name = '\(Journey.faultyName)' AND state = 'active'
                """
            let hasEnded = EventRecorder<Void>()
            let most = try await withThrowingTaskGroup(of: [Int].self) { group in
                for number in 0..<200 {
                    group.addTask {
                        var statuses: [Int] = []
                        repeat {
                            let request = ClientEndpoint.task("d\(number)", start, "T")
                            statuses.append(try await endpoint.post("/task", request).status)
                        } while hasEnded.all.isEmpty
                        return statuses
                    }
                }
                var most = 0
                func count() async throws {
                    most = max(
                        most,
                        try await journey.count("pg_stat_activity WHERE application_name = '\(Journey.faultyName)'"))
                }
                // Two generations of statements: each ends while the lock is still held.
                for _ in 0..<2 {
                    try await eventually("statements that wait") {
                        try await count()
                        return try await journey.sql("SELECT \(active)").count >= 4
                    }
                    let last = try await journey.sql("SELECT max(query_start)::text AS last \(active)")[0].string(
                        "last")
                    try await eventually("the end of the statements that waited") {
                        try await count()
                        return try await journey.sql("SELECT \(active) AND query_start <= '\(last)'").isEmpty
                    }
                }
                hasEnded.append(())
                for try await statuses in group { #expect(Set(statuses) == [503]) }
                return most
            }
            #expect(most <= limit)

            try await holder.execute("COMMIT")
            await holder.close()
            try await eventually("a task taken") {
                let request = ClientEndpoint.task("bob", start, "T")
                return [200, 201].contains(try await endpoint.post("/task", request).status)
            }
        }
        await cluster.stop()
    }

    @Test("A deadlocked statement is retried")
    func deadlock() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let start = try await journey.instant(in: 3600)
            // The first two attempts of a registration fail with a simulated deadlock.
            try await journey.sql("CREATE SEQUENCE letsswitch.test_try")
            try await journey.sql("CREATE TABLE letsswitch.test_limit AS SELECT 2 AS n")
            try await journey.sql(
                """
                CREATE FUNCTION letsswitch.test_conflict() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('letsswitch.test_try') <= (SELECT n FROM letsswitch.test_limit) THEN
                        RAISE EXCEPTION 'deadlock detected' USING ERRCODE = 'deadlock_detected';
                    END IF;
                    RETURN NULL;
                END $$
                """)
            try await journey.sql(
                """
                CREATE TRIGGER test_conflict AFTER INSERT ON schedule.task
                FOR EACH STATEMENT EXECUTE FUNCTION letsswitch.test_conflict()
                """)
            #expect(try await endpoint.post("/task", ClientEndpoint.task("ada", start, "T")).status == 201)
            #expect(try await journey.count("schedule.task WHERE device_id = 'ada'") == 1)
            let metrics = try await MetricsReading(endpoint)
            #expect(metrics[#"letsswitch_db_queries_total{outcome="conflict"}"#] == 2)

            try await journey.sql("UPDATE letsswitch.test_limit SET n = 1000000")
            let refused = try await endpoint.post("/task", ClientEndpoint.task("bob", start, "T"))
            #expect(refused.status == 503 && refused.headers["Retry-After"] != nil)
            // The database is available.
            #expect(try await endpoint.get("/readyz").status == 200)
        }
    }
}
