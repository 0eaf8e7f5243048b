import Postgres

extension TestCluster {
    /// Makes a fresh database with a daemon's tables and zone names (``StoredZoneNames``), so that a daemon needn't create
    /// them. Returns its connection string.
    package func makeDaemonDatabase() async throws -> String {
        try await makeDatabase(named: "daemon") { conninfo in
            let (daemon, _) = try await DaemonProcess.ready(
                ["--listen", "127.0.0.1:0", "--database-url", conninfo, "--log-format", "json"])
            try await daemon.terminate()
            for statement in StoredZoneNames.install { try await Self.execute(statement, conninfo) }
        }
    }
}

/// SQL that stores the zones' names in a database. Daemons read them at their start, and PostgreSQL would read more
/// than a thousand files for each of hundreds of daemons.
package enum StoredZoneNames {
    package static let install = [
        "CREATE TABLE letsswitch.test_zone AS SELECT schedule.zone_names() AS name",
        """
        CREATE OR REPLACE FUNCTION schedule.zone_names() RETURNS SETOF text LANGUAGE sql AS
        $$ SELECT name FROM letsswitch.test_zone $$
        """,
    ]
}
