import Postgres

extension TestCluster {
    /// A fresh database in which a daemon has made its tables, which another need not do then: its connection string. It knows its
    /// zones (``KeptZones``).
    package func makeDaemonDatabase() async throws -> String {
        try await makeDatabase(named: "daemon") { conninfo in
            let (daemon, _) = try await DaemonProcess.ready(
                ["--listen", "127.0.0.1:0", "--database-url", conninfo, "--log-format", "json"])
            try await daemon.terminate()
            for statement in KeptZones.install { try await Self.execute(statement, conninfo) }
        }
    }
}

/// SQL by which a database keeps the zones' names, which a daemon asks for at its start. PostgreSQL reads a thousand files and more for
/// them, for each of hundreds of daemons.
package enum KeptZones {
    package static let install = [
        "CREATE TABLE letsswitch.test_zone AS SELECT letsswitch.zone_names() AS name",
        """
        CREATE OR REPLACE FUNCTION letsswitch.zone_names() RETURNS SETOF text LANGUAGE sql AS
        $$ SELECT name FROM letsswitch.test_zone $$
        """,
    ]
}
