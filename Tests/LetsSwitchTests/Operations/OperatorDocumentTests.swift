import Foundation
import TestSupport
import Testing

@testable import LetsSwitch

/// The commands of operators' documents, run as they are written: `sudo` and `systemctl` are stand-ins, and what the documents have below
/// `/var` is a directory of the test's.
@Suite struct OperatorDocumentTests {
    /// A shell's world, in which the daemon is started and stopped as a service is.
    private struct Machine {
        let directory = TestClusterDirectories.shared.make()

        init() throws {
            for name in ["bin", "backups", "first", "second"] {
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/\(name)", withIntermediateDirectories: true)
                chmod("\(directory)/\(name)", 0o755)
            }
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/bin/letsswitchd", withDestinationPath: DaemonProcess.executable())
            try tool("sudo", #"exec "$@""#)
            try tool(
                "systemctl",
                """
                pid=\(directory)/pid
                case $1 in
                stop)
                    kill -TERM "$(cat $pid)"
                    while kill -0 "$(cat $pid)" 2>/dev/null; do sleep 0.05; done ;;
                start)
                    letsswitchd --listen 127.0.0.1:0 --log-format json >"$LETSSWITCH_STATE_DIR/log" 2>&1 </dev/null &
                    echo $! >$pid
                    until grep -q '"msg":"listening"' "$LETSSWITCH_STATE_DIR/log"; do kill -0 $!; sleep 0.05; done ;;
                *) exit 64 ;;
                esac
                """)
        }

        private func tool(_ name: String, _ script: String) throws {
            let path = "\(directory)/bin/\(name)"
            try "#!/bin/sh -e\n\(script)\n".write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o755)
        }

        /// What the commands print; they must succeed.
        @discardableResult
        func run(_ commands: String, _ variables: [String: String] = [:]) async throws -> String {
            var environment = DaemonProcess.cleanEnvironment().merging(variables) { _, given in given }
            environment["PATH"] = "\(directory)/bin:\(environment["PATH"] ?? "/usr/bin:/bin")"
            let script = commands.replacing("/var/backups", with: "\(directory)/backups")
            let shell = try await ChildProcess.start(
                "/bin/sh", ["-ec", "cd \(directory)\n\(script)"], environment: environment)
            let status = try await shell.waitForExit()
            #expect(status == .exited(0), "\(script): \(shell.lines.all.map(\.text))")
            return shell.text(of: .output)
        }
    }

    /// The blocks of a page that are marked as the shell's.
    private func blocks(_ page: String) throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
        return text.components(separatedBy: "\n```sh\n").dropFirst().compactMap {
            $0.components(separatedBy: "\n```").first
        }
    }

    @Test("A private cluster is backed up and restored, and a look inside taken, by what the pages say")
    func privateCluster() async throws {
        let pages = try blocks("Sources/Postgres/BACKUP.md")
        let (backup, restore) = (try #require(pages.first), try #require(pages.dropFirst().first))
        let machine = try Machine()
        let first = ["LETSSWITCH_STATE_DIR": "\(machine.directory)/first"]
        let second = ["LETSSWITCH_STATE_DIR": "\(machine.directory)/second"]
        try await machine.run("systemctl start letsswitchd", first)
        #expect(try await machine.run(backup, first).hasPrefix("backup: "))
        for look in try blocks("Sources/LetsSwitch/Operations/MONITORING.md") { try await machine.run(look, first) }
        // Onto a machine on which there is nothing yet.
        #expect(try await machine.run(restore, second).hasPrefix("restored: "))
        // With what the first one was: the backup has its row.
        #expect(try await !machine.run("letsswitchd daemons", second).isEmpty)
        try await machine.run("systemctl stop letsswitchd", second)
    }

    @Test("A database of one's own is dumped and read again by what the page says")
    func ownDatabase() async throws {
        try await Journey.run { journey in
            let block = try #require(try blocks("Sources/Postgres/BACKUP.md").last)
            let lines = block.split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines[0].hasPrefix("pg_dump") && lines[1].hasPrefix("pg_restore"))
            let machine = try Machine()
            let empty = try await TestCluster.shared.makeDatabase()
            try await machine.run(lines[0], ["DATABASE_URL": journey.conninfo])
            try await machine.run(lines[1], ["DATABASE_URL": empty])
            let (daemon, endpoint) = try await DaemonProcess.listening(
                ["--listen", "127.0.0.1:0", "--database-url", empty])
            try await eventually("readiness") { try await endpoint.get("/readyz").status == 200 }
            #expect(try await daemon.terminate() == .exited(0))
            await TestCluster.shared.remove(empty)
        }
    }
}
