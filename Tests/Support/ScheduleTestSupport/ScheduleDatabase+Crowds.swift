import FoundationEssentials
import Postgres

extension ScheduleDatabase {
    /// Adds `count` open tasks of a device, one per second of time. The planner's statistics don't know them yet, as
    /// after very fast registrations.
    package func crowd(of device: String, count: Int, after first: String) async throws {
        try await run(
            """
            WITH crowd AS (
                INSERT INTO schedule.task
                    (id, device_id, title, starts_at, reminds_at, time_zone, start_time, room_id, closes_at)
                SELECT gen_random_uuid(), '\(device)', 'Secret', slot, slot - interval '1 minute', 'UTC', '00:00',
                    gen_random_uuid(), slot + interval '1 hour'
                FROM (SELECT timestamptz '\(first)' + n * interval '1 second' AS slot FROM generate_series(1, \(count)) AS n) AS s
                RETURNING task.*
            )
            INSERT INTO schedule.due (reminds_at, registered, task_id, starts_at, closes_at)
            SELECT reminds_at, registered, id, starts_at, closes_at FROM crowd WHERE reminds_at > core.clock()
            """)
    }

    /// Returns the number of rows and index entries that each of `count` calls visits. The calls run one after the
    /// other in one session, so the last ones use the generic plan, which fits any parameters.
    ///
    /// - Parameter growth: A statement that runs before the last call, in the same session and transaction. The last
    ///   call's plan is then older than the tables' growth.
    package func visits(_ call: String, count: Int = 8, growth: String = "SELECT") async throws -> [Int] {
        try await run(
            """
            CREATE OR REPLACE FUNCTION letsswitch.test_visited() RETURNS bigint LANGUAGE sql AS $$
                SELECT sum(pg_stat_get_xact_tuples_returned(oid) + pg_stat_get_xact_tuples_fetched(oid))::bigint
                FROM pg_class WHERE relnamespace::regnamespace::text !~ '^(pg_|information_schema)' AND relkind IN ('r', 'i')
            $$
            """)
        try await run(
            """
            CREATE OR REPLACE FUNCTION letsswitch.test_visits() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
            DECLARE
                v_before bigint;
            BEGIN
                FOR i IN 1..\(count) LOOP
                    IF i = \(count) THEN
                        EXECUTE $growth$\(growth)$growth$;
                    END IF;
                    v_before := letsswitch.test_visited();
                    PERFORM count(*) FROM \(call) AS answer;
                    RETURN NEXT letsswitch.test_visited() - v_before;
                END LOOP;
            END
            $$
            """)
        return try await run("SELECT n FROM letsswitch.test_visits() AS n").map { try $0.integer("n") }
    }
}
