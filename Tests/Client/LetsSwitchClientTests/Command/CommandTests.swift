import Foundation
import Glibc
import InterfaceTestSupport
import Postgres
import TestSupport
import Testing

@testable import letsswitch

/// Tests that run the built command as a shell does.
@Suite struct CommandTests {
    private static func executable() throws -> String {
        let daemon = URL(fileURLWithPath: try DaemonProcess.executable())
        return daemon.deletingLastPathComponent().appendingPathComponent("letsswitch").path
    }

    private static func start(
        _ arguments: [String], state: String, _ variables: [String: String] = [:]
    ) async throws -> ChildProcess {
        let environment = DaemonProcess.cleanEnvironment().merging(["XDG_STATE_HOME": state, "TZ": "UTC"]) { $1 }
            .merging(variables) { $1 }
        return try await ChildProcess.start(executable(), arguments, environment: environment)
    }

    private typealias Outcome = (status: TestSupport.ExitStatus, lines: [String])

    private static func run(
        _ arguments: [String], state: String, _ variables: [String: String] = [:]
    ) async throws -> Outcome {
        let process = try await start(arguments, state: state, variables)
        let status = try await process.waitForExit()
        return (status, process.lines.all.map(\.text))
    }

    /// Ends a running command, and checks its output against the described messages.
    private static func end(_ process: ChildProcess, at target: String, _ event: String? = nil) async throws {
        await process.signal(SIGTERM)
        _ = try await process.waitForExit()
        let validator = try #require(InterfaceValidation.validator(target))
        let objects = process.lines.all.map(\.text).filter { $0.hasPrefix("{") }
        #expect(!objects.isEmpty)
        for object in objects { validator(event, Array(object.utf8)) }
    }

    private static func json(_ line: String) throws -> TestJSON { try TestJSON(parsing: Array(line.utf8)) }

    @Test("The command trusts a server with TLS if the system's authorities do")
    func tls() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let authority = try await TestAuthority()
        let identity = try await authority.issue()
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "tls:127.0.0.1:0", "--database-url", database, "--log-format", "json", "--open-rooms",
            "--tls-certificate", identity.certificate, "--tls-key", identity.key,
        ])
        let address = "\(endpoint)".split(separator: "/").last.map { "https://\($0)" } ?? ""
        let cheer = ["cheer", UUID().uuidString, "--server", address]
        let believed = try await Self.run(cheer, state: state, ["SSL_CERT_FILE": authority.file])
        #expect(believed.status == .exited(0), "\(believed.lines)")
        let stranger = try await Self.run(cheer, state: state)
        #expect(stranger.status == .exited(69), "\(stranger.lines)")
        await daemon.signal(SIGKILL)
        _ = try await daemon.waitForExit()
    }

    @Test("An argument that isn't UTF-8 is refused with status 64")
    func foreignBytes() async throws {
        let script = #"exec "$0" promise "$(printf 'Gr\374n')" --at 09:00 --server http://127.0.0.1:1"#
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", script, try Self.executable()], environment: DaemonProcess.cleanEnvironment())
        // A request to this server would end with status 69.
        #expect(try await process.waitForExit() == .exited(64))
        #expect(process.text(of: .error).contains("argument 2 isn't UTF-8"))
    }

    @Test("A time of day without a known zone is refused with status 64")
    func unknownZone() async throws {
        let promise = ["promise", "History", "--at", "09:00", "--device", "ada", "--server", "http://127.0.0.1:1"]
        for (arguments, variables) in [
            (promise, ["TZ": "CET-1CEST,M3.5.0,M10.5.0/3"]), (promise + ["--zone", "Europe/Lodnon"], [:]),
        ] {
            let outcome = try await Self.run(arguments, state: "/tmp/ls-command-unused", variables)
            #expect(outcome.status == .exited(64), "\(outcome.lines)")
        }
        // With a known zone the request is sent, and no server answers.
        let known = try await Self.run(
            promise, state: "/tmp/ls-command-unused", ["TZ": ":/usr/share/zoneinfo/posix/Europe/Prague"])
        #expect(known.status == .exited(69), "\(known.lines)")
    }

    @Test("Two users promise, watch, join and cheer")
    func journey() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json", "--reminder-lead", "1h",
        ])
        let server = ["--server", "\(endpoint)"]
        let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 3605).rounded())
        let time = ["--at", start.formatted(.iso8601)]
        let ada = try await Self.run(["promise", "History"] + time + server, state: state)
        #expect(ada.status == .exited(0))
        let promise = try Self.json(try #require(ada.lines.first))
        #expect(promise["title"].string == "History")
        let device = "\(state)/letsswitch/device"
        #expect(
            promise["deviceId"].string == (try String(contentsOfFile: device, encoding: .utf8)).dropLast().description)
        let mode = try FileManager.default.attributesOfItem(atPath: device)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let bob = try await Self.run(server + ["promise", "Maths", "--device", "bob"] + time, state: state)
        #expect(try Self.json(try #require(bob.lines.first))["partnerTitle"].string == "History")
        let refused = try await Self.run(["cancel"] + time + server, state: state)
        #expect(refused.status == .exited(1))
        #expect(refused.lines.first?.hasPrefix("letsswitch: ") == true)

        let watching = try await Self.start(["watch"] + server, state: state)
        let line = try await watching.lines.next("a reminder") { $0.text.hasPrefix("{") }.text
        let room = try #require(try Self.json(line)["roomId"].string)
        try await Self.end(watching, at: "/reminders", "reminder")
        let joined = try await Self.start(["join", room] + server, state: state)
        try await joined.lines.next("the handshake") { $0.text == #"{"type":"handshake"}"# }
        #expect(try await Self.run(["cheer", room, "-n", "2"] + server, state: state).status == .exited(0))
        for _ in 0..<2 { try await joined.lines.next("an ale") { $0.text == #"{"type":"aleResponse"}"# } }
        try await Self.end(joined, at: "/socket?id=\(room)")
        #expect(
            try await Self.run(["join", UUID().uuidString] + server, state: state).status == .exited(1))
        try await daemon.terminate()
    }

    @Test("A late user promises the past start and joins a waiting user")
    func late() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json", "--late-join", "30m",
        ])
        let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7200).rounded()).formatted(.iso8601)
        func run(_ device: String, _ arguments: String...) async throws -> Outcome {
            try await Self.run(arguments + ["--server", "\(endpoint)", "--device", device], state: state)
        }
        func promise(_ device: String, _ title: String) async throws -> Outcome {
            try await run(device, "promise", title, "--at", start)
        }
        #expect(try await promise("ada", "History").status == .exited(0))
        let bob = try Self.json(try #require(try await promise("bob", "Maths").lines.first))
        let client = PostgresClient(configuration: PostgresConfiguration(conninfo: database))
        for sql in ShiftedClock.install + [ShiftedClock.shift(bySeconds: 7260)] {
            _ = try await client.query(PostgresStatement(name: "", sql: sql), [], timeout: nil)
        }
        await client.shutdown()
        // No user waits yet.
        let early = try await promise("eva", "Art")
        #expect(early.status == .exited(1) && early.lines.first?.contains("too late") == true, "\(early.lines)")
        #expect(try await run("bob", "leave", try #require(bob["id"].string)).status == .exited(0))
        let eva = try await promise("eva", "Art")
        #expect(eva.status == .exited(0), "\(eva.lines)")
        #expect(try Self.json(try #require(eva.lines.first))["partnerTitle"].string == "History")
        #expect(try await promise("dan", "Tea").status == .exited(1))
        try await daemon.terminate()
    }

    @Test("Two users invite, accept, prefer, list and undo")
    func invitation() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json",
        ])
        func run(_ device: String, _ arguments: String...) async throws -> Outcome {
            try await Self.run(arguments + ["--server", "\(endpoint)", "--device", device], state: state)
        }
        func answer(_ outcome: Outcome) throws -> TestJSON {
            #expect(outcome.status == .exited(0))
            return try Self.json(try #require(outcome.lines.first))
        }
        let time = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7200).rounded()).formatted(.iso8601)
        let host = try answer(try await run("ada", "promise", "History", "--at", time, "--invite"))
        let link = try #require(host["invitation"].string)
        #expect(try answer(try await run("cem", "promise", "Tea", "--at", time))["isPaired"] == false)
        let guest = try answer(try await run("bob", "accept", link, "Maths"))
        #expect(guest["partnerTitle"].string == "History")
        #expect(try await run("dan", "accept", link, "Art").status == .exited(1))
        #expect(try await run("dan", "accept", "nonsense", "Art").status == .exited(64))

        let task = try #require(guest["id"].string)
        let preference = try answer(try await run("bob", "prefer", task))
        #expect(preference["title"].string == "History")
        let id = try #require(preference["id"].string)
        #expect(try answer(try await run("bob", "preferences"))["preferences"][0]["id"].string == id)
        #expect(try await run("ada", "unprefer", id).status == .exited(1))
        #expect(try await run("bob", "unprefer", id).status == .exited(0))
        #expect(try answer(try await run("bob", "preferences"))["preferences"].array?.isEmpty == true)
        try await daemon.terminate()
    }

    @Test("Two users take names, send messages, listen and read the history")
    func conversations() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json",
        ])
        let (ada, bob) = (
            ["--server", "\(endpoint)", "--device", "ada"], ["--server", "\(endpoint)", "--device", "bob"]
        )
        let named = try await Self.run(ada + ["name", "ada"], state: state)
        #expect(named.status == .exited(0))
        #expect(try Self.json(try #require(named.lines.first))["name"].string == "ada")
        #expect(try await Self.run(bob + ["name", "bob"], state: state).status == .exited(0))
        // A name belongs to the first device that takes it.
        #expect(
            try await Self.run(["name", "ada", "--server", "\(endpoint)", "--device", "eve"], state: state).status
                == .exited(1))
        let listening = try await Self.start(bob + ["listen"], state: state)
        try await listening.lines.next("the handshake") { $0.text.contains(#""type":"handshake""#) }
        let result = try await Self.run(ada + ["say", "bob", "--", "Tea,", "--now?"], state: state)
        #expect(result.status == .exited(0))
        let message = try Self.json(try #require(result.lines.first))["messages"][0]
        #expect(message["content"].string == "Tea, --now?")
        let line = try await listening.lines.next("the message") { $0.text.contains(#""type":"message""#) }
        #expect(try Self.json(line.text)["message"]["id"].string == message["id"].string)
        try await Self.end(listening, at: "/conversations/socket")
        let history = try await Self.run(bob + ["history", "ada"], state: state)
        #expect(try Self.json(try #require(history.lines.first))["messages"][0]["author"].string == "ada")
        let list = try await Self.run(bob + ["history"], state: state)
        #expect(
            try Self.json(try #require(list.lines.first))["conversations"][0]["lastMessage"]["content"].string
                == "Tea, --now?")
        #expect(try await Self.run(bob + ["history", "eve"], state: state).status == .exited(1))
        #expect(try await Self.run(ada + ["say", "nobody", "--", "x"], state: state).status == .exited(1))
        try await daemon.terminate()
    }

    @Test("A listener receives another user's question")
    func questions() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening([
            "--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json",
        ])
        let body = #"{"deviceId":"speaker","title":"Tea"}"#
        let curl = try await ChildProcess.start(
            "/usr/bin/env", ["curl", "-sS", "-d", body, "http://\(endpoint)/questions/sessions"],
            environment: DaemonProcess.cleanEnvironment())
        let made = try await curl.lines.next("the session") { $0.text.hasPrefix("{") }
        let session = try #require(try Self.json(made.text)["id"].string)
        let server = ["--server", "\(endpoint)"]
        let listening = try await Self.start(["listen", session] + server, state: state)
        try await listening.lines.next("the list") { $0.text.contains(#""type":"questions""#) }
        let asked = try await Self.run(["ask", session, "Why tea?"] + server, state: state)
        #expect(asked.status == .exited(0))
        #expect(try Self.json(try #require(asked.lines.first))["success"].bool == true)
        let line = try await listening.lines.next("the question") { $0.text.contains(#""type":"question""#) }
        #expect(try Self.json(line.text)["question"]["content"].string == "Why tea?")
        try await Self.end(listening, at: "/questions/\(session)/socket")
        #expect(try await Self.run(["ask", session, " "] + server, state: state).status == .exited(1))
        #expect(try await Self.run(["ask", UUID().uuidString, "x"] + server, state: state).status == .exited(1))
        try await daemon.terminate()
    }

    @Test("The exit status distinguishes wrong usage from an unreachable server")
    func statuses() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let help = try await Self.run(["--help"], state: state)
        #expect(help.status == .exited(0))
        #expect(help.lines.contains { $0.contains("letsswitch watch") })
        #expect(try await Self.run(["dance"], state: state).status == .exited(64))
        #expect(try await Self.run(["join", "x"], state: state).status == .exited(64))
        for command in [["watch"], ["join", UUID().uuidString], ["promise", "x", "--at", "09:00"]] {
            let outcome = try await Self.run(command + ["--server", "127.0.0.1:1", "--device", "x"], state: state)
            #expect(outcome.status == .exited(69), "\(command)")
        }
        #expect(!FileManager.default.fileExists(atPath: state))
    }

    @Test("The device id is created once and refused if other users can read it")
    func deviceFile() async throws {
        let state = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let file = try #require(DeviceFile { $0 == "XDG_STATE_HOME" ? state : nil })
        // A relative path is ignored.
        let home = DeviceFile { ["XDG_STATE_HOME": "state", "HOME": "/home/ada"][$0] }
        #expect(home?.path == "/home/ada/.local/state/letsswitch/device")
        let ids = await withTaskGroup(of: String?.self) { group in
            for _ in 0..<16 { group.addTask { try? file.read() } }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && ids.first??.hasPrefix("terminal-") == true)
        // Other processes leave no files behind.
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(state)/letsswitch") == ["device"])
        #expect(chmod(file.path, 0o644) == 0)
        #expect(throws: UsageError.self) { try file.read() }
        // A file that a full disk cut short is replaced.
        #expect(chmod(file.path, 0o600) == 0 && truncate(file.path, 0) == 0)
        #expect(try ids.contains(file.read()) == false)
    }

    @Test("The exit status reports output that can't be written", arguments: [false, true])
    func output(readerHasGone: Bool) async throws {
        let daemon = URL(fileURLWithPath: try DaemonProcess.executable())
        let command = daemon.deletingLastPathComponent().appendingPathComponent("letsswitch").path
        let pipe = "/tmp/ls-command-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        // A pipe without a reader, or a full disk.
        let script =
            readerHasGone
            ? #"mkfifo "$1" && exec 3<>"$1" 4>"$1" 3>&- && exec "$0" --help >&4"# : #"exec "$0" --help >/dev/full"#
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", script, command, pipe], environment: DaemonProcess.cleanEnvironment())
        #expect(try await process.waitForExit() == .exited(74))
        #expect(process.lines.all.isEmpty == readerHasGone)
    }
}
