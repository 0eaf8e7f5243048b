import Foundation
import Glibc
import TestSupport
import Testing

@testable import Postgres

/// Backups written from a real cluster and restored into another.
@Suite struct ClusterBackupTests {
    private func cluster(_ directory: String) -> PrivateCluster {
        PrivateCluster(stateDirectory: directory, names: .test, isDurable: false)
    }

    private func backup(_ directory: String) -> ClusterBackup {
        ClusterBackup(stateDirectory: directory, names: .test, isDurable: false)
    }

    @discardableResult
    private func query(_ location: PrivateClusterLocation, _ sql: String) async throws -> PostgresRows? {
        var configuration = PostgresConfiguration(conninfo: location.conninfo)
        configuration.connectTimeout = .seconds(20)
        let session = try await PostgresSession.connect(configuration)
        let rows = try await session.execute(sql)
        await session.close()
        return rows
    }

    /// Returns the directory of a stopped cluster with a table.
    private func filled() async throws -> String {
        let directory = TestClusterDirectories.shared.make()
        let cluster = cluster(directory)
        let location = try await cluster.start()
        try await query(
            location, "CREATE SCHEMA product; CREATE TABLE product.kept AS SELECT n FROM generate_series(1, 1000) AS n")
        await cluster.stop()
        return directory
    }

    private func sum(_ location: PrivateClusterLocation) async throws -> Int? {
        try await query(location, "SELECT sum(n)::bigint AS sum FROM product.kept")?[0].integer("sum")
    }

    private func errorMessage(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    private func names(_ directory: String) -> [String] { Directory(path: directory).entries }

    @Test("The client programs are found without a server's") func clientsAlone() throws {
        let root = TestClusterDirectories.shared.make()
        let programs = "\(root)/99/bin"
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        #expect(PostgresBinaries.client("pg_dump", major: 99, in: root) == nil)
        // The tests' file system may not allow executables, so this links to one.
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/pg_dump", withDestinationPath: "/bin/sh")
        #expect(
            FileManager.default.createFile(
                atPath: "\(programs)/pg_restore", contents: nil, attributes: [.posixPermissions: 0o644]))
        #expect(PostgresBinaries.client("pg_dump", major: 99, in: root) == "\(programs)/pg_dump")
        #expect(PostgresBinaries.client("pg_dump", major: 98, in: root) == nil)
        #expect(PostgresBinaries.client("pg_restore", major: 99, in: root) == nil)
    }

    @Test("A backup of a running server is restored into a new cluster") func thereAndBack()
        async throws
    {
        let (from, to, files) = (
            try await filled(), TestClusterDirectories.shared.make(), TestClusterDirectories.shared.make()
        )
        let serving = cluster(from)
        let location = try await serving.start()
        let size = try await backup(from).write(to: "\(files)/backup") { Issue.record("it runs") }
        // The same server is still running.
        #expect(await serving.isRunning)
        #expect(try await sum(location) == 500_500)
        await serving.stop()
        var status = stat()
        #expect(stat("\(files)/backup", &status) == 0)
        #expect(Int(status.st_size) == size && size > 500)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(names(files) == ["backup"])

        try await backup(to).restore(from: "\(files)/backup")
        let restored = cluster(to)
        #expect(try await sum(restored.start()) == 500_500)
        await restored.stop()
    }

    @Test(
        "A backup starts a stopped cluster"
    )
    func stopped() async throws {
        let (from, files) = (try await filled(), TestClusterDirectories.shared.make())
        try "old".write(toFile: "\(files)/kept", atomically: true, encoding: .utf8)
        #expect(symlink("kept", "\(files)/link") == 0)
        let starts = EventRecorder<String>()
        let size = try await backup(from).write(to: "\(files)/link") { starts.append("started") }
        #expect(starts.all == ["started"])
        #expect(names(files) == ["kept", "link"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/link") == "kept")
        #expect(try Data(contentsOf: URL(filePath: "\(files)/kept")).count == size)
        #expect(!Directory(path: "\(from)/postgres/data/postmaster.pid").exists)
    }

    @Test("A failed backup leaves the existing file") func failed() async throws {
        let (from, files) = (try await filled(), TestClusterDirectories.shared.make())
        let cluster = cluster(from)
        let location = try await cluster.start()
        let old = "the backup of yesterday"
        try old.write(toFile: "\(files)/backup", atomically: true, encoding: .utf8)
        // pg_dump writes the backup's head before it notices that this table's file is missing.
        let table = try await query(location, "SELECT pg_relation_filepath('product.kept') AS path")
        try FileManager.default.removeItem(atPath: "\(location.dataDirectory)/\(try #require(table)[0].string("path"))")
        let errorMessage = await errorMessage { _ = try await backup(from).write(to: "\(files)/backup") }
        #expect(errorMessage.hasPrefix("pg_dump failed:\n"), "\(errorMessage)")
        #expect(try String(contentsOfFile: "\(files)/backup", encoding: .utf8) == old)
        #expect(names(files) == ["backup"])
        await cluster.stop()
    }

    @Test("The leftovers of a killed backup are removed by the next one")
    func leftovers() async throws {
        let files = TestClusterDirectories.shared.make()
        for name in ["backup.unfinished-aB3dE6", "backup.unfinished-inUse1"] {
            try "part".write(toFile: "\(files)/\(name)", atomically: false, encoding: .utf8)
        }
        for name in ["backup.unfinished-longer-than-ours", "other.unfinished-aB3dE6"] {
            try "another's".write(toFile: "\(files)/\(name)", atomically: false, encoding: .utf8)
        }
        let writer = open("\(files)/backup.unfinished-inUse1", O_RDWR | O_CLOEXEC)
        #expect(flock(writer, LOCK_EX) == 0)
        _ = try UnfinishedFile.write("\(files)/backup") { _ in }
        close(writer)
        #expect(
            names(files).sorted() == [
                "backup", "backup.unfinished-inUse1", "backup.unfinished-longer-than-ours", "other.unfinished-aB3dE6",
            ])
    }

    @Test("An interrupted backup leaves nothing") func interrupted() async throws {
        let (from, files) = (try await filled(), TestClusterDirectories.shared.make())
        let cluster = cluster(from)
        let location = try await cluster.start()
        let holder = try await PostgresSession.connect(PostgresConfiguration(conninfo: location.conninfo))
        try await holder.execute("BEGIN; LOCK TABLE product.kept")
        let backup = backup(from)
        let work = Task { try await backup.write(to: "\(files)/backup") }
        // pg_dump waits for a lock on the table.
        try await eventually("pg_dump's wait") {
            try await query(
                location,
                "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'pg_dump' AND wait_event_type = 'Lock'"
            )?[0].integer("n") == 1
        }
        #expect(names(files).allSatisfy { $0.hasPrefix("backup.unfinished-") } && names(files).count == 1)
        work.cancel()
        #expect(await errorMessage { _ = try await work.value } == "interrupted")
        #expect(names(files).isEmpty)
        await holder.close()
        await cluster.stop()
    }

    @Test("A backup without data or without a place is refused with the reason") func nothing() async throws {
        let empty = TestClusterDirectories.shared.make()
        #expect(
            await errorMessage { _ = try await backup(empty).write(to: "\(empty)/backup") }
                == "there is no private cluster in \(empty)")
        let from = try await filled()
        #expect(
            await errorMessage { _ = try await backup(from).write(to: "\(empty)/none/backup") }
                == "cannot write \(empty)/none/backup: No such file or directory")
        for place in [empty, "/dev/null"] {
            #expect(
                await errorMessage { _ = try await backup(from).write(to: place) } == "\(place) is not a regular file")
        }
    }

    @Test("A restore into a used database is refused") func refused()
        async throws
    {
        let (from, files) = (try await filled(), TestClusterDirectories.shared.make())
        _ = try await backup(from).write(to: "\(files)/backup")
        let errorMessage = await errorMessage { try await backup(from).restore(from: "\(files)/backup") }
        #expect(
            errorMessage.contains("isn't empty")
                && errorMessage.contains("mv '\(from)/postgres' '\(from)/postgres.old'"))
        let serving = cluster(from)
        #expect(try await sum(serving.start()) == 500_500)
        #expect(
            await self.errorMessage { try await backup(from).restore(from: "\(files)/backup") }
                == "the state directory \(from) is in use by process \(getpid())")
        await serving.stop()
    }

    @Test("A truncated or invalid file restores no data") func damaged()
        async throws
    {
        let (from, to, files) = (
            try await filled(), TestClusterDirectories.shared.make(), TestClusterDirectories.shared.make()
        )
        let size = try await backup(from).write(to: "\(files)/backup")
        let whole = try Data(contentsOf: URL(filePath: "\(files)/backup"))
        #expect(whole.count == size)
        try whole.prefix(size - 200).write(to: URL(filePath: "\(files)/cut"))
        try Data("SELECT 1".utf8).write(to: URL(filePath: "\(files)/text"))
        for file in ["cut", "text"] {
            let errorMessage = await errorMessage { try await backup(to).restore(from: "\(files)/\(file)") }
            #expect(errorMessage.hasPrefix("pg_restore failed:\n"), "\(errorMessage)")
        }
        #expect(
            await errorMessage { try await backup(to).restore(from: "\(files)/none") }
                == "cannot read \(files)/none: No such file or directory")
        try await backup(to).restore(from: "\(files)/backup")
        let restored = cluster(to)
        #expect(try await sum(restored.start()) == 500_500)
        await restored.stop()
    }

    @Test(
        "Root creates a cluster for the owner of the state directory, who can use it", .enabled(if: geteuid() == 0)
    )
    func forAnother() async throws {
        let (from, to, files) = (
            try await filled(), TestClusterDirectories.shared.make(), TestClusterDirectories.shared.make()
        )
        let owner = try #require(getpwnam("nobody")).pointee
        #expect(chown(to, owner.pw_uid, owner.pw_gid) == 0)
        _ = try await backup(from).write(to: "\(files)/backup")
        try await backup(to).restore(from: "\(files)/backup")
        for path in ["\(to)/lock", "\(to)/postgres", "\(to)/postgres/data"] {
            #expect(Directory(path: path).owner == owner.pw_uid, "\(path)")
        }
    }
}
