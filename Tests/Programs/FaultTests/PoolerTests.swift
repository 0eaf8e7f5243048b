import Postgres
import TestSupport
import Testing

/// A connection pooler in transaction mode between the daemon and its database.
@Suite struct PoolerTests {
    private static let sentence = "a connection pooler in transaction mode is between the daemon and PostgreSQL"

    @Test("A daemon behind a pooler in transaction mode doesn't start")
    func start() async throws {
        let conninfo = try await TestCluster.shared.makeDatabase()
        let pooler = try TransactionPooler(toDatabase: conninfo, maxServers: 4)
        let daemon = try await DaemonProcess.start(["--listen", "127.0.0.1:0", "--database-url", pooler.conninfo])
        let log = try await daemon.waitForLog("can't start")
        #expect(log["level"] == "error" && log["error"].string?.hasPrefix(Self.sentence) == true)
        #expect(try await daemon.waitForExit() == .exited(1))
        #expect(!daemon.output.contains("\"listening\""))
        pooler.close()
        let rows = try await TestCluster.execute("SELECT to_regnamespace('letsswitch') IS NULL AS empty", conninfo)
        #expect(try rows?.first?.boolean("empty") == true)
    }

    @Test("`check` refuses a pooler in transaction mode")
    func check() async throws {
        let pooler = try TransactionPooler(toDatabase: try await TestCluster.shared.makeDatabase(), maxServers: 4)
        let check = try await DaemonProcess.start(["check", "--database-url", pooler.conninfo])
        #expect(try await check.waitForExit() == .exited(1))
        #expect(check.output.contains("error: the database that --database-url names: \(Self.sentence)"))
        #expect(!check.output.contains("warning"))
        pooler.close()
    }
}
