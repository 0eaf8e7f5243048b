import Foundation
import Postgres
import Reminders
import Schedule
import TestSupport
import Testing

@testable import LetsSwitchClient
@testable import letsswitch

/// Tests of what two users see, each in a terminal.
@Suite struct TerminalTests {
    /// The values that differ from run to run.
    private static func plain(_ lines: [String]) -> [String] {
        lines.map { line in
            line.replacing(#/[0-9A-F]{8}(-[0-9A-F]{4}){3}-[0-9A-F]{12}/#, with: "ID")
                .replacing(#/([0-9]+:)*[0-9]+ (s )?to go/#, with: "TIME to go")
                .replacing(#/[0-9]{2}:[0-9]{2}(:[0-9]{2})?/#, with: "TIME")
                .replacing(#/--at [^ ]+/#, with: "--at TIME")
        }.map { String($0.reversed().drop { $0 == " " }.reversed()) }.filter { !$0.isEmpty }
    }

    /// Returns a block of the command's README by its first line.
    private static func block(_ heading: String) throws -> [String] {
        let lines = try Checkout.text("Sources/Programs/letsswitch/README.md").split(
            separator: "\n", omittingEmptySubsequences: false)
        guard let start = lines.firstIndex(of: Substring(heading)) else { return [] }
        let block = lines[start...].drop { !$0.hasPrefix("```") }.dropFirst().prefix { !$0.hasPrefix("```") }
        return block.map(String.init)
    }

    @Test("Two terminals show what the README says")
    func journey() async throws {
        let state = "/tmp/ls-terminal-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        try await RunningDaemon.with(["--reminder-lead", "1h"]) { server, _ in
            var (adas, bens) = ([String](), [String]())
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 3606).rounded())
            let time = start.formatted(.iso8601)
            let (ada, ben) = (
                ["--device", "ada", "--server", "\(server)"], ["--device", "ben", "--server", "\(server)"]
            )
            func run(_ words: [String], _ who: [String], to seen: inout [String]) async throws {
                let terminal = try await Terminal(words + who, state: state)
                #expect(try await terminal.end() == .exited(0))
                seen += ["$ letsswitch \(words.joined(separator: " "))"] + terminal.lines
            }
            try await run(["promise", "History", "--at", time], ada, to: &adas)
            try await run(["promise", "Maths", "--at", time], ben, to: &bens)
            let watching = try await Terminal(["watch"] + ada, state: state)
            let room = try #require(
                try await watching.shows("letsswitch join ").split(separator: " ").last.map(String.init))
            adas += ["$ letsswitch watch"] + watching.lines
            let one = try await Terminal(["join", room] + ada, state: state)
            try await one.shows("isn't here yet · only you are here")
            adas += ["$ letsswitch join \(room)"] + one.lines
            let other = try await Terminal(["join", room] + ben, state: state)
            try await other.shows("is here · 2 people are here")
            try await one.shows("is here · 2 people are here")
            try await other.press("1")
            try await one.shows("Applause!")
            try await one.press(" ")
            try await other.shows("Cheers!")
            try await other.press("\u{3}")
            #expect(try await other.end() == .exited(0))
            bens += ["$ letsswitch join \(room)"] + other.lines
            try await one.shows("go · your partner (Maths) has lost the connection")
            try await one.press("\u{3}")
            #expect(try await one.end() == .exited(0))
            adas += one.lines.drop { !$0.hasPrefix("Your partner") }
            let (shownToAda, shownToBen) = (Self.plain(adas), Self.plain(bens))
            #expect(shownToAda == Self.plain(try Self.block("Ada's:")), "\(adas.joined(separator: "\n"))")
            #expect(shownToBen == Self.plain(try Self.block("Ben's:")), "\(bens.joined(separator: "\n"))")
        }
    }

    @Test("A user who loses the partner is moved to another room")
    func rematched() async throws {
        let state = "/tmp/ls-terminal-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        try await RunningDaemon.withDatabase(["--late-join", "30m"]) { server, sql in
            func query(_ text: String) async throws -> Int {
                try await sql.query(PostgresStatement(name: "", sql: text), [], timeout: nil).count
            }
            let start = Date(timeIntervalSince1970: (Date.now.timeIntervalSince1970 + 7200).rounded())
            func promise(_ device: String, _ title: String) async throws -> RegisteredTask {
                try await client(device).register(title, at: start, timeZone: "UTC")
            }
            func client(_ device: String) -> LetsSwitchClient { LetsSwitchClient(server, deviceID: device) }
            // Two matches, in each of which one partner comes.
            let (ada, _) = (try await promise("ada", "History"), try await promise("bob", "Maths"))
            let (cem, _) = (try await promise("cem", "Latin"), try await promise("dan", "Art"))
            /// Sets the server's clock to this number of seconds after the start, and makes the server check it.
            func advance(to seconds: Double) async throws {
                _ = try await query(ShiftedClock.advance(toSeconds: start.timeIntervalSince1970 + seconds))
                _ = try await query("SELECT pg_notify('\(ReminderStore.dueChannel)', '0')")
            }
            for text in ShiftedClock.install { _ = try await query(text) }
            try await advance(to: -59)
            func enter(_ promise: RegisteredTask, _ device: String) async throws -> Terminal {
                let words = ["join", promise.roomID.uuidString, "--device", device, "--server", "\(server)"]
                let terminal = try await Terminal(words, state: state)
                try await terminal.shows("You are in the room.")
                return terminal
            }
            let (adas, cems) = (try await enter(ada, "ada"), try await enter(cem, "cem"))
            try await adas.press("s")
            try await adas.shows("A task can't be marked as started before its start time.")
            try await eventually("it is written who came") {
                try await query("SELECT FROM core.attendance WHERE present > 0") == 2
            }
            try await advance(to: 61)
            try await adas.shows("Your new partner starts Latin. You are moving to a new room.")
            try await cems.shows("Your new partner starts History. You are moving to a new room.")
            for terminal in [adas, cems] { try await terminal.shows("is here · 2 people are here") }
            try await adas.press("s")
            try await adas.shows("You have started.")
            #expect(try await query("SELECT FROM schedule.task WHERE began_at IS NOT NULL") == 1)
            try await cems.press("1")
            try await adas.shows("Applause!")
            // The remaining user only learns of the room's end, and asks the schedule for the next room.
            try await client("cem").leave(cem)
            try await adas.shows("The room is closed.")
            try await eventually("in the next room") {
                adas.lines.filter { $0 == "You are in the new room." }.count == 2
            }
            #expect(try await cems.end() == .exited(0), "\(cems.lines)")
            try await adas.press("\u{3}")
            #expect(try await adas.end() == .exited(0), "\(adas.lines)")
            #expect(adas.lines.filter { $0.hasPrefix("You are in the room.") }.count == 1)
        }
    }

    @Test("A signal restores the terminal's settings and ends the command", arguments: [SIGINT, SIGTERM, SIGHUP])
    func signalled(_ signal: CInt) async throws {
        /// Prints whether echo is off before the signal and after it, and the signal that ended the command.
        let program = """
            import os, pty, sys, termios
            pid, terminal = pty.fork()
            if pid == 0: os.execv(sys.argv[2], sys.argv[2:])
            def unseen(): return not termios.tcgetattr(terminal)[3] & termios.ECHO
            shown = b''
            while b'You are in the room.' not in shown: shown += os.read(terminal, 4096)
            before = unseen()
            os.kill(pid, int(sys.argv[1]))
            status = os.waitpid(pid, 0)[1]
            print(before, unseen(), os.WTERMSIG(status))
            """
        let daemon = URL(fileURLWithPath: try DaemonProcess.executable())
        let command = daemon.deletingLastPathComponent().appendingPathComponent("letsswitch").path
        try await RunningDaemon.with(["--open-rooms"]) { server, _ in
            let words = ["join", UUID().uuidString, "--device", "ada", "--server", "\(server)"]
            let process = try await ChildProcess.start(
                "/usr/bin/python3", ["-c", program, "\(signal)", command] + words,
                environment: DaemonProcess.cleanEnvironment())
            #expect(try await process.waitForExit() == .exited(0))
            #expect(process.lines.all.map(\.text) == ["True False \(signal)"])
        }
    }

    @Test("Leaving during a request doesn't wait for the answer")
    func leavingEarly() async throws {
        let state = "/tmp/ls-terminal-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        let server = try RawServer()
        let words = ["join", UUID().uuidString, "--device", "ada", "--server", "\(try server.address)"]
        let terminal = try await Terminal(words, state: state)
        let health = try await server.accept()
        _ = try await health.receiveUntil("\r\n\r\n")
        try await health.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let schedule = try await server.accept()
        _ = try await schedule.receiveUntil("\r\n\r\n")
        try await terminal.press("\u{3}")
        #expect(try await terminal.end() == .exited(0), "\(terminal.lines)")
        await schedule.close()
    }

    @Test("The status line counts each device of a question session once")
    func listening() async throws {
        let state = "/tmp/ls-terminal-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: state) }
        try await RunningDaemon.with([]) { server, _ in
            let session = try await RunningDaemon.makeSession(at: server).uuidString
            let who = ["--device", "ada", "--server", "\(server)"]
            let terminal = try await Terminal(["listen", session] + who, state: state)
            try await terminal.shows("only you are here")
            #expect(terminal.lines.last == "only you are here")
            let asking = try await Terminal(["ask", session, "Why tea?"] + who, state: state)
            #expect(try await asking.end() == .exited(0))
            try await terminal.shows("0 × Why tea?")
            let other = try await Terminal(
                ["listen", session, "--device", "bob", "--server", "\(server)"], state: state)
            try await terminal.shows("2 people are here")
            #expect(terminal.lines.suffix(2) == ["0 × Why tea?", "2 people are here"])
            for terminal in [terminal, other] {
                try await terminal.press("\u{3}")
                _ = try await terminal.end()
            }
        }
    }

    @Test("The server's address comes from a file if neither an option nor the environment has it")
    func serverFile() async throws {
        let directory = "/tmp/ls-config-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = try #require(ServerFile { $0 == "XDG_CONFIG_HOME" ? directory : nil })
        #expect(file.path == "\(directory)/letsswitch/server" && file.read() == nil)
        try FileManager.default.createDirectory(atPath: "\(directory)/letsswitch", withIntermediateDirectories: true)
        try Data("# ours\n\n  https://a.test  \nhttps://b.test\n".utf8).write(to: URL(fileURLWithPath: file.path))
        #expect(file.read() == "https://a.test")
        #expect(ServerFile.address(in: "#\n \n") == nil)
        #expect(ServerFile.address(in: "# ours\r\n\r\nhttps://a.test\r\nhttps://b.test\r\n") == "https://a.test")
        #expect(
            ServerFile(environment: { $0 == "HOME" ? "/home/ada" : nil })?.path == "/home/ada/.config/letsswitch/server"
        )
        func server(_ line: String, environment: String?, file: String?) throws -> String {
            try ParsedCommand(
                line.split(separator: " ").map(String.init), environment: { _ in environment }, serverFile: { file }
            ).server.description
        }
        #expect(try server("watch", environment: nil, file: "https://a.test") == "https://a.test")
        #expect(try server("watch", environment: "https://b.test", file: "https://a.test") == "https://b.test")
        #expect(try server("watch --server c.test", environment: nil, file: "https://a.test") == "http://c.test")
    }
}
