import Foundation
import Glibc
import TestSupport
import Testing

@testable import Postgres

@Suite struct PrivateClusterTests {
    private static func query(_ location: PrivateClusterLocation, _ sql: String) async throws -> PostgresRows? {
        var configuration = PostgresConfiguration(conninfo: location.conninfo)
        configuration.connectTimeout = .seconds(20)
        let session = try await PostgresSession.connect(configuration)
        let rows = try await session.execute(sql)
        await session.close()
        return rows
    }

    @Test("A cluster is created, started, stopped and found again")
    func itIsMadeStartedStoppedAndFoundAgain() async throws {
        let directory = TestClusterDirectories.shared.make()
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let location = try await cluster.start()
        #expect(location.relocatedFrom == nil)
        #expect(location.dataDirectory.hasPrefix(directory))
        _ = try await Self.query(location, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
        let settings = try await Self.query(
            location,
            """
            SELECT current_setting('listen_addresses') AS addresses, current_setting('TimeZone') AS zone,
                current_setting('server_encoding') AS encoding, current_database() AS name
            """)
        #expect(try settings?[0].string("addresses") == "")
        #expect(try settings?[0].string("zone") == "UTC")
        #expect(try settings?[0].string("encoding") == "UTF8")
        #expect(try settings?[0].string("name") == "letsswitch")
        var status = stat()
        #expect(stat(location.socketDirectory, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        #expect(status.st_uid != 0)
        // Starting a running cluster changes nothing.
        #expect(try await cluster.start() == location)
        await cluster.stop()
        await cluster.stop()

        // The next start of the daemon does this too.
        let next = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        #expect(try await next.start() == location)
        #expect(try await Self.query(location, "SELECT n FROM kept")?[0].integer("n") == 7)
        await next.stop()
    }

    @Test("A server left running is taken over")
    func serverLeftRunningIsTakenOver() async throws {
        let directory = TestClusterDirectories.shared.make()
        var killed: PrivateCluster? = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let location = try await killed?.start()
        let pid = await killed?.processIdentifier
        // Releases the lock and leaves the server running, as `kill -9` of the daemon does.
        killed = nil
        let next = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        #expect(try await next.start() == location)
        #expect(await next.processIdentifier == pid)
        await next.stop()
        #expect(!Directory(path: "\(directory)/postgres/data/postmaster.pid").exists)
    }

    @Test("A killed server is restarted")
    func killedServerIsRestarted() async throws {
        let directory = TestClusterDirectories.shared.make()
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let location = try await cluster.start()
        _ = try await Self.query(location, "CREATE TABLE kept (n int)")
        let pid = try #require(await cluster.processIdentifier)
        kill(pid, SIGKILL)
        // The file names a process that has ended. The same object starts a new server once it notices.
        try await eventually("the server's end") { await !cluster.isRunning }
        #expect(try await cluster.start() == location)
        #expect(await cluster.processIdentifier != pid)
        _ = try await Self.query(location, "SELECT n FROM kept")
        await cluster.stop()
    }

    @Test("A process number that was reused in the server's files doesn't prevent a start")
    func processNumberThatWasReusedInServersFilesDoesNotPreventStart() async throws {
        let directory = TestClusterDirectories.shared.make()
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let location = try await cluster.start()
        let file = "\(location.dataDirectory)/postmaster.pid"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        await cluster.stop()
        // After a container's restart pids start again, so a file may name a running process. Here it names the test's
        // own.
        let lines = ["\(getpid())"] + text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
        try lines.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
        // The lock of the server's socket names the same process.
        let lock = "\(location.socketDirectory)/.s.PGSQL.5432.lock"
        try (lines.prefix(5) + [""]).joined(separator: "\n").write(toFile: lock, atomically: false, encoding: .utf8)
        #expect(try await cluster.start() == location)
        await cluster.stop()
    }

    @Test("A state directory belongs to one daemon")
    func stateDirectoryBelongsToOneDaemon() async throws {
        let directory = TestClusterDirectories.shared.make()
        let first = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        _ = try await first.start()
        let second = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let error = await #expect(throws: PrivateClusterError.self) { try await second.start() }
        #expect(error?.message.contains("in use by process \(getpid())") == true)
        await first.stop()
    }

    @Test("Data of another major version is refused with the commands for an upgrade")
    func dataOfAnotherMajorVersionIsRefusedWithTheCommandsThatUpgradeIt() async throws {
        let directory = TestClusterDirectories.shared.make()
        let data = "\(directory)/postgres/data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try "9\n".write(toFile: "\(data)/PG_VERSION", atomically: true, encoding: .utf8)
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let error = await #expect(throws: PrivateClusterError.self) { try await cluster.start() }
        let message = error?.message ?? ""
        #expect(message.contains("pg_upgrade -U letsswitch -b /usr/lib/postgresql/9/bin -B "))
        #expect(message.contains("-d '\(data)' -D '\(data)."))
        // The data are for a version that isn't installed. The error names the package to install.
        try "99\n".write(toFile: "\(data)/PG_VERSION", atomically: true, encoding: .utf8)
        let newer = await #expect(throws: PrivateClusterError.self) { try await cluster.start() }
        #expect(newer?.message.contains("postgresql-99") == true)
    }

    @Test("The remains of an interrupted initialisation are removed")
    func rubbishOfAnInterruptedInitialisationIsClearedAway() async throws {
        let directory = TestClusterDirectories.shared.make()
        let rubbish = "\(directory)/postgres/data.unfinished-1"
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        _ = try await cluster.start()
        await cluster.stop()
        try FileManager.default.moveItem(atPath: "\(directory)/postgres/data", toPath: rubbish)
        let location = try await cluster.start()
        #expect(!FileManager.default.fileExists(atPath: rubbish))
        #expect(FileManager.default.fileExists(atPath: "\(location.dataDirectory)/PG_VERSION"))
        await cluster.stop()
    }

    @Test("A path that is too long for a socket gets its socket elsewhere")
    func pathThatIsTooLongForSocketGetsItsSocketElsewhere() async throws {
        let directory = TestClusterDirectories.shared.make() + "/" + String(repeating: "long", count: 25)
        let cluster = PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
        let location = try await cluster.start()
        #expect(location.dataDirectory.hasPrefix(directory))
        #expect(!location.socketDirectory.hasPrefix(directory))
        #expect(try await Self.query(location, "SELECT 1 AS one")?[0].integer("one") == 1)
        await cluster.stop()
        rmdir(location.socketDirectory)
    }

    @Test(
        "A directory that the cluster's user can't enter is replaced by another",
        .enabled(if: geteuid() == 0))
    func directoryThatClustersUserCannotEnterIsReplacedByAnother() async throws {
        let parent = TestClusterDirectories.shared.make()
        chmod(parent, 0o700)
        let cluster = PrivateCluster(stateDirectory: "\(parent)/state", names: .test, isDurable: false)
        let location = try await cluster.start()
        let hash = ClusterPlacement.hash("\(parent)/state")
        #expect(location.relocatedFrom == "\(parent)/state")
        #expect(location.relocationReason?.contains("cannot enter") == true)
        #expect(location.dataDirectory == "/var/lib/letsswitch/\(hash)/postgres/data")
        #expect(try await Self.query(location, "SELECT 1 AS one")?[0].integer("one") == 1)
        await cluster.stop()
        // When the directory can be entered again, its data are still there.
        chmod(parent, 0o755)
        #expect(try await cluster.start().dataDirectory == location.dataDirectory)
        await cluster.stop()
        try FileManager.default.removeItem(atPath: "/var/lib/letsswitch/\(hash)")
        rmdir("/var/lib/letsswitch")
    }

    @Test("A second signal stops the server without waiting")
    func secondSignalStopsServerWithoutWaiting() async throws {
        let cluster = PrivateCluster(
            stateDirectory: TestClusterDirectories.shared.make(), names: .test, isDurable: false)
        _ = try await cluster.start()
        cluster.signalFastShutdown()
        try await eventually("the server's end") { await !cluster.isRunning }
        await cluster.stop()
    }

    @Test("The server's file is read only when it is complete")
    func serversFileIsReadOnlyWhenItIsComplete() {
        let text = "123\n/data\n1700000000\n5432\n/socket\n\n  1  2\nready   \n"
        let file = PostmasterFile(text: text)
        #expect(file?.pid == 123)
        #expect(file?.socketDirectory == "/socket")
        #expect(file?.isReady == true)
        #expect(PostmasterFile(text: "123\n/data\n1700000000\n5432\n/socket\n\n  1  2\nstarting\n")?.isReady == false)
        #expect(PostmasterFile(text: "123\n/da") == nil)
        #expect(PostmasterFile(text: "") == nil)
    }

    @Test(
        "A socket's directory needs no quoting",
        arguments: [
            ("/var/lib/letsswitch/postgres", "/var/lib/letsswitch/postgres/socket"),
            ("/tmp/with space", "/run/letsswitch-x"), ("/tmp/a,b", "/run/letsswitch-x"),
            ("/tmp/a'b", "/run/letsswitch-x"),
        ])
    func socketsGoWhereTheirPathNeedsNoQuoting(home: String, sockets: String) {
        #expect(
            ClusterPlacement.sockets(
                home: Directory(path: home), program: "letsswitch", hash: "x", uid: 1, runs: true
            ).path == sockets)
    }

    @Test("A program runs to its end or its time limit")
    func programsRunToTheirEndOrTheirTime() throws {
        let echo = try Subprocess(command: ["sh", "-c", "echo out; echo err >&2; env; pwd; exit 3"]).run(
            timeout: Deadline.standard)
        #expect(echo.status == 3)
        #expect(echo.output.contains("out\n") && echo.output.contains("err\n") && echo.output.contains("\n/\n"))
        #expect(!echo.output.contains("PG"))
        let endless = try Subprocess(command: ["sleep", "60"]).run(timeout: .milliseconds(50))
        #expect(endless.status == nil)
        let verbose = try Subprocess(command: ["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"]).run(
            timeout: Deadline.standard)
        #expect(verbose.succeeded && verbose.output.utf8.count == Subprocess.outputLimit)
        #expect(throws: PrivateClusterError.self) { try Subprocess(command: ["/nowhere/x"]).run(timeout: .seconds(1)) }
    }
}
