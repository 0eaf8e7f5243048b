import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// Backup, restore and inspection with the commands of the operators' documents.
@Suite struct OperatorDocumentTests {
    @Test("The pages' commands back up, restore and inspect a private cluster")
    func privateCluster() async throws {
        let pages = OperatorPages.blocks(try Checkout.text("Sources/Platform/Postgres/BACKUP.md"))
        let (backup, restore) = (try #require(pages.first), try #require(pages.dropFirst().first))
        let machine = try OperatorMachine()
        let first = ["LETSSWITCH_STATE_DIR": "\(machine.directory)/first"]
        let second = ["LETSSWITCH_STATE_DIR": "\(machine.directory)/second"]
        try await machine.run("systemctl start letsswitchd", first)
        #expect(try await machine.run(backup, first).hasPrefix("backup: "))
        for look in OperatorPages.blocks(try Checkout.text("Sources/Programs/LetsSwitch/Operations/MONITORING.md")) {
            try await machine.run(look, first)
        }
        // Restores onto a machine without data.
        #expect(try await machine.run(restore, second).hasPrefix("restored: "))
        // The restored database has the first daemon's row.
        #expect(try await !machine.run("letsswitchd daemons", second).isEmpty)
        // The steps of an upgrade to PostgreSQL's next major version.
        let move = try #require(
            OperatorPages.commands(in: try Checkout.text("Sources/Platform/Postgres/BACKUP.md")).first {
                $0.hasPrefix("mv ")
            })
        try await machine.run(
            """
            letsswitchd backup next.dump
            systemctl stop letsswitchd
            \(move.replacing("/var/lib/letsswitch", with: "\(machine.directory)/second"))
            letsswitchd restore next.dump
            systemctl start letsswitchd
            """, second)
        #expect(try await !machine.run("letsswitchd daemons", second).isEmpty)
        try await machine.run("systemctl stop letsswitchd", second)
    }

    @Test("The page's commands dump and restore a separate database")
    func ownDatabase() async throws {
        try await Journey.run { journey in
            let block = try #require(
                OperatorPages.blocks(try Checkout.text("Sources/Platform/Postgres/BACKUP.md")).last)
            let lines = block.split(separator: "\n").map(String.init)
            #expect(lines.count == 2 && lines[0].hasPrefix("pg_dump") && lines[1].hasPrefix("pg_restore"))
            let machine = try OperatorMachine()
            let empty = try await TestCluster.shared.makeDatabase()
            try await machine.run(lines[0], ["DATABASE_URL": journey.conninfo])
            try await machine.run(lines[1], ["DATABASE_URL": empty])
            let (daemon, endpoint) = try await DaemonProcess.ready(
                ["--listen", "127.0.0.1:0", "--database-url", empty])
            #expect(try await endpoint.get("/readyz").status == 200)
            #expect(try await daemon.terminate() == .exited(0))
            await TestCluster.shared.remove(empty)
        }
    }
}
