import Features
import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@testable import Settings

/// The program's command line: its output and its exit status.
@Suite struct DaemonCommandTests {
    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (status: TestSupport.ExitStatus, output: String) {
        let daemon = try await DaemonProcess.start(arguments, environment: environment)
        let status = try await daemon.waitForExit()
        return (status, daemon.output)
    }

    @Test("`--help` lists every flag, on standard output")
    func help() async throws {
        let daemon = try await DaemonProcess.start(["--help"])
        #expect(try await daemon.waitForExit() == .exited(0))
        #expect(daemon.process.lines.all.allSatisfy { $0.stream == .output })
        #expect(daemon.output.contains("Usage: letsswitchd"))
        for setting in SettingTable.all { #expect(daemon.output.contains(setting.flag)) }
    }

    @Test("Completion in bash offers commands, flags and files")
    func completion() async throws {
        let script = Checkout.url("Sources/Programs/letsswitchd/completions/letsswitchd.bash").path
        func offered(_ words: String...) async throws -> Set<String> {
            let program = """
                . "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _letsswitchd "$1"; printf '%s\\n' "${COMPREPLY[@]}"
                """
            let bash = try await ChildProcess.start(
                "/bin/bash", ["-c", program, "bash", script, DaemonProcess.executable()] + words,
                environment: DaemonProcess.cleanEnvironment())
            #expect(try await bash.waitForExit() == .exited(0))
            return Set(bash.text(of: .output).split(separator: "\n").map(String.init))
        }
        #expect(
            try await offered("")
                == Set(
                    ["serve", "check", "ticket", "backup", "restore"] + Inspection.allCases.map(\.rawValue)
                        + ControlOrder.Name.allCases.map(\.rawValue)))
        #expect(try await offered("serve", "--").isSuperset(of: SettingTable.all.map(\.flag)))
        #expect(try await offered("serve", "--reminder-l") == ["--reminder-lead"])
        #expect(try await offered("restore", "/etc/os-r") == ["/etc/os-release"])
    }

    @Test("`check` names a Web Push contact that push services refuse")
    func contact() async throws {
        let state = "\(TestClusterDirectories.shared.make())/state"
        let (status, output) = try await run(
            ["check", "--state-dir", state, "--web-push-contact", "mailto:ops@localhost"])
        #expect(status == .exited(0))
        #expect(output.contains("warning: --web-push-contact: ") && output.contains("localhost is no public domain"))
    }

    @Test("`--version` prints the versions")
    func version() async throws {
        let (status, output) = try await run(["--version"])
        #expect(status == .exited(0))
        #expect(output.contains(ProductVersion.number))
    }

    @Test("Output that can't be written is reported with a failure status")
    func unwritten() async throws {
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", #"exec "$0" --version >/dev/full"#, try DaemonProcess.executable()],
            environment: DaemonProcess.cleanEnvironment())
        #expect(try await process.waitForExit() == .exited(1))
        #expect(process.text(of: .error) == "letsswitchd: the output can't be written")
    }

    @Test(
        "An invalid argument is reported with a hint to --help",
        arguments: [
            (["--reminder-laed", "1"], "--reminder-lead"), (["--nonsense"], "--nonsense"), (["sing"], "sing"),
            (["--listen"], "--listen"), (["--listen", "8080"], "--listen"), (["--reminder-lead", "soon"], "soon"),
            (["--loops", "0"], "--loops"), (["--database-url", "nonsense"], "--database-url"),
            (["--log-level", "loud"], "loud"),
        ])
    func misuse(arguments: [String], errorMessage: String) async throws {
        let daemon = try await DaemonProcess.start(arguments)
        #expect(try await daemon.waitForExit() == .exited(64))
        #expect(daemon.process.lines.all.allSatisfy { $0.stream == .error })
        #expect(daemon.output.contains(errorMessage) && daemon.output.contains("--help"))
    }

    @Test("An invalid value in the environment is reported by its variable")
    func badVariable() async throws {
        for (name, value) in [("LETSSWITCH_ROOM_SIZE", "1"), ("PORT", "http"), ("DATABASE_URL", "nonsense")] {
            let (status, output) = try await run([], environment: [name: value])
            #expect(status == .exited(64))
            #expect(output.contains(name))
        }
    }

    @Test(
        "An argument or a setting's variable that isn't UTF-8 is refused with status 64",
        arguments: [
            (#"exec "$0" ticket "$(printf 'Gr\374n')" --for 1h"#, "argument 2 isn't UTF-8"),
            (#"LETSSWITCH_HOSTS="$(printf 'Gr\374n')" exec "$0" check"#, "LETSSWITCH_HOSTS isn't UTF-8"),
        ])
    func foreignBytes(script: String, complaint: String) async throws {
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", script, try DaemonProcess.executable()], environment: DaemonProcess.cleanEnvironment())
        #expect(try await process.waitForExit() == .exited(64))
        #expect(process.text(of: .output).isEmpty)
        #expect(process.text(of: .error).contains(complaint))
    }

    @Test("A variable that the daemon doesn't read may have bytes that aren't UTF-8")
    func foreignVariable() async throws {
        let process = try await ChildProcess.start(
            "/bin/sh", ["-c", #"GREETING="$(printf 'Gr\374n')" exec "$0" --version"#, try DaemonProcess.executable()],
            environment: DaemonProcess.cleanEnvironment())
        #expect(try await process.waitForExit() == .exited(0))
    }

    @Test("A port in use ends the start with a clear message and status 1")
    func portInUse() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let (status, output) = try await run(["--listen", "\(endpoint)", "--database-url", journey.conninfo])
            #expect(status == .exited(1))
            #expect(output.contains("\(endpoint)") && output.lowercased().contains("in use"))
        }
    }

    @Test("A port in use is reported before a private cluster is created")
    func portInUseBeforeCluster() async throws {
        try await Journey.run { journey in
            let endpoint = try await journey.daemon()
            let state = "\(TestClusterDirectories.shared.make())/state"
            let (status, output) = try await run(["--listen", "\(endpoint)", "--state-dir", state])
            #expect(status == .exited(1))
            #expect(output.contains("\(endpoint)") && output.lowercased().contains("in use"))
            #expect(access(state, F_OK) != 0)
        }
    }

    @Test("`check` refuses an address open to other machines without --public-url")
    func checkPublicAddress() async throws {
        let state = "\(TestClusterDirectories.shared.make())/state"
        func check(_ arguments: String...) async throws -> (status: TestSupport.ExitStatus, output: String) {
            try await run(["check", "--state-dir", state] + arguments)
        }
        for address in ["0.0.0.0:8080", "[::]:8080", "192.0.2.1:80"] {
            let (status, output) = try await check("--listen", address)
            #expect(status == .exited(1), "\(address)")
            #expect(output.contains("error: --public-url is missing: other machines can connect to \(address), but"))
        }
        #expect(try await check("--listen", "0.0.0.0:8080", "--public-url", "https://example.org").status == .exited(0))
        // The name is known, but links have no address.
        let (status, output) = try await check("--listen", "0.0.0.0:8080", "--hosts", "example.org")
        #expect(status == .exited(0) && output.contains("warning: --public-url is missing: links "))
        for address in ["127.0.0.1:8080", "[::1]:8080", "localhost:8080", "unix:/run/x.sock"] {
            let (status, output) = try await check("--listen", address)
            #expect(status == .exited(0) && !output.contains("--public-url"), "\(address)")
        }
        // `check` creates nothing.
        #expect(access(state, F_OK) != 0)
    }

    @Test("`check` refuses a state directory that can't be written")
    func checkStateDirectory() async throws {
        let file = "\(TestClusterDirectories.shared.make())/file"
        try Data().write(to: URL(fileURLWithPath: file))
        for directory in [file, "\(file)/state", "/proc/letsswitch/state"] {
            let (status, output) = try await run(["check", "--state-dir", directory])
            let existing = directory.hasPrefix("/proc") ? "/proc" : file
            #expect(status == .exited(1), "\(directory)")
            #expect(output.contains("error: private cluster: cannot write \(existing): "), "\(output)")
        }
        // With another database the directory has only the operators' socket.
        try await Journey.run { journey in
            let (status, output) = try await run(["check", "--state-dir", file, "--database-url", journey.conninfo])
            #expect(status == .exited(0))
            #expect(output.contains("warning: operators' commands will be unavailable: cannot write \(file): "))
        }
    }

    @Test("Only an unknown variable with the server's prefix gets a warning")
    func environment() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await DaemonProcess.listening(
                environment: [
                    "DATABASE_URL": journey.conninfo, "PORT": "0", "LETSSWITCH_REMINDER_LAED": "1s",
                    "LETSSWITCH_OPEN_ROOMS": "true",
                ])
            let warning = try await daemon.waitForLog("configuration")
            #expect(warning["level"] == "warning")
            #expect(warning["warning"].string?.contains("LETSSWITCH_REMINDER_LAED") == true)
            #expect(warning["warning"].string?.contains("LETSSWITCH_REMINDER_LEAD") == true)
            guard case .tcp("0.0.0.0", let port) = endpoint else {
                Issue.record("listening on \(endpoint)")
                return
            }
            let local = ClientEndpoint.tcp(host: "127.0.0.1", port: port)
            #expect(try await local.status(of: UUID()) == 101)
            #expect(try await local.get("/readyz").status == 200)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test("A flag overrides its variable")
    func precedence() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(
                ["--reminder-lead", "5m"], environment: ["LETSSWITCH_REMINDER_LEAD": "1h"])
            let start = try await journey.instant(in: 7200)
            let task = try await endpoint.register("ada", start)
            #expect(task.startsAt.timeIntervalSince(task.remindsAt) == 300)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }
}
