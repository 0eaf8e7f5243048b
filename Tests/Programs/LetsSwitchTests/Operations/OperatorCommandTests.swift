import Foundation
import JourneyTestSupport
import TestSupport
import Testing

/// The commands in the operators' pages. Each is run by a test or is a named exception.
@Suite struct OperatorCommandTests {
    @Test("Every command in the operators' pages has a test or a reason for none")
    func all() throws {
        var found: Set<String> = []
        for (path, text) in try OperatorPages.all() {
            let commands = OperatorPages.commands(in: text)
            found.formUnion(commands)
            for command in commands where CommandProof.known[command] == nil {
                Issue.record("\(path): nothing runs `\(command)`")
            }
        }
        let gone = Set(CommandProof.known.keys).subtracting(found)
        #expect(gone.isEmpty, "in no page any more: \(gone)")
        let files = FileManager.default.enumerator(atPath: Checkout.url("Tests").path)
        let tests = (files?.compactMap { $0 as? String } ?? []).reduce(into: [String: String]()) { tests, path in
            tests[URL(filePath: path).lastPathComponent] = path
        }
        for case (let command, .suite(let suite)) in CommandProof.known {
            let path = try #require(tests["\(suite).swift"], "\(command): there is no \(suite)")
            // The suite must name the subcommand of `letsswitchd`, or the program if it is another.
            let word = command.split(separator: " ")[command.hasPrefix("letsswitchd") ? 1 : 0]
            let text = try Checkout.text("Tests/\(path)").lowercased()
            #expect(text.contains(word), "\(suite) doesn't run \(command)")
        }
    }

    @Test("The pages' commands switch providers on and off and read numbers")
    func requests() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--ntfy-server", "http://127.0.0.1:9"])
            let machine = try OperatorMachine()
            func run(_ page: String, _ beginning: String) async throws -> String {
                let commands = OperatorPages.commands(in: try Checkout.text(page))
                let command = try #require(commands.first { $0.hasPrefix(beginning) })
                return try await machine.run(
                    command.replacing("curl ", with: "curl -f ")
                        .replacing("https://example.org", with: "http://\(endpoint.authority)")
                        .replacing("127.0.0.1:8080", with: endpoint.authority))
            }
            let ntfy = "Sources/Features/Notifications/NOTIFICATIONS.md"
            #expect(try TestJSON(parsing: Array(try await run(ntfy, "curl -s").utf8))["topic"].string != nil)
            _ = try await run(ntfy, "curl -X DELETE")
            let calendar = "Sources/Features/Schedule/Calendar/CALENDAR.md"
            #expect(try TestJSON(parsing: Array(try await run(calendar, "curl -s").utf8))["url"].string != nil)
            _ = try await run(calendar, "curl -X DELETE")
            let help = try await run("Sources/Programs/LetsSwitch/Operations/MONITORING.md", "curl -s")
            #expect(help.contains("# HELP letsswitch_connections "))
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("The secret of the page's command makes a ticket")
    func tickets() async throws {
        let commands = OperatorPages.commands(in: try Checkout.text("Sources/Core/Access/TICKETS.md"))
        let machine = try OperatorMachine()
        try await machine.run(try #require(commands.first { $0.hasPrefix("openssl") }))
        let ticket = try await machine.run(try #require(commands.first { $0.hasPrefix("letsswitchd ticket ada") }))
        #expect(ticket.split(separator: ".").count == 3)
    }

    @Test("The page's commands serve TLS and load the next certificate")
    func certificates() async throws {
        try await Journey.run { journey in
            let blocks = OperatorPages.blocks(try Checkout.text("Sources/Platform/Server/TLS.md"))
            let (serve, renew) = (try #require(blocks.first), try #require(blocks.dropFirst().first))
            let machine = try OperatorMachine()
            let authority = try await TestAuthority()
            let (first, second) = (try await authority.issue("first"), try await authority.issue("second", serial: 2))
            let lineage = "\(machine.directory)/renewed"
            // The files have the names that Let's Encrypt's program uses.
            try await machine.run(
                """
                cp \(first.certificate) /etc/letsswitch/certificate.pem
                cp \(first.key) /etc/letsswitch/key.pem
                mkdir \(lineage)
                cp \(second.certificate) \(lineage)/fullchain.pem
                cp \(second.key) \(lineage)/privkey.pem
                """)
            let local = serve.replacing("127.0.0.1:8080", with: "127.0.0.1:0")
                .replacing("0.0.0.0:443", with: "127.0.0.1:0")
            try await machine.run(
                """
                \(local) --log-format json >log 2>&1 </dev/null &
                echo $! >pid
                until grep -q '"msg":"listening".*tls' log; do kill -0 $!; sleep 0.05; done
                """, ["DATABASE_URL": journey.conninfo])
            // The test's user may not be in this group.
            let hook = renew.replacing(" -g ssl-cert", with: "")
            #expect(hook != renew)
            try await machine.run(
                """
                cat >hook <<'END'
                \(hook)
                END
                chmod 755 hook
                RENEWED_LINEAGE=\(lineage) ./hook
                until grep -q '"msg":"certificate reloaded"' log; do kill -0 "$(cat pid)"; sleep 0.05; done
                cmp \(lineage)/privkey.pem /etc/letsswitch/key.pem
                systemctl stop letsswitchd
                """)
        }
    }

    @Test("The page's commands start several daemons on a database")
    func fleet() async throws {
        try await Journey.run { journey in
            let block = try #require(
                OperatorPages.blocks(try Checkout.text("Sources/Operations/Daemons/DAEMONS.md")).first)
            let lines = block.split(separator: "\n").map(String.init)
            #expect(lines.count == 2)
            let ports = try (0..<3).map { _ in "\(try FreePort.find())" }.joined(separator: " ")
            let export = lines[0].replacing("'postgresql:///letsswitch'", with: "\"$JOURNEY\"")
            let start = lines[1].replacing("8081 8082 8083", with: ports)
            #expect(start != lines[1] && export != lines[0])
            let rows = try await OperatorMachine().run(
                """
                \(export)
                stop() { jobs -p >pids; kill $(cat pids); wait; }
                trap stop EXIT
                exec 3>&1 >/dev/null 2>&1
                # Ends before it is ended, or they would go on without it.
                pause() { [ $((pauses += 1)) -lt 1200 ] && kill -0 $! && sleep 0.1; }
                \(start)
                for port in \(ports); do
                    until curl -sf http://127.0.0.1:$port/readyz; do pause; done
                done
                until [ "$(letsswitchd daemons | wc -l)" -eq 3 ]; do pause; done
                letsswitchd daemons >&3
                """, ["JOURNEY": journey.conninfo])
            #expect(rows.split(separator: "\n").count == 3)
        }
    }
}
