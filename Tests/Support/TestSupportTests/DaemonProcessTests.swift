import Glibc
import TestSupport
import Testing

/// Starting a daemon and reading its output. A shell script replaces the daemon.
@Suite struct DaemonProcessTests {
    private func daemon(_ script: String, environment: [String: String] = [:]) async throws -> DaemonProcess {
        try await DaemonProcess.start(["-c", script], environment: environment, executable: "/bin/sh")
    }

    @Test("The start line contains the address of each listener")
    func listening() async throws {
        let daemon = try await daemon(
            """
            echo 'not JSON'
            echo '{"level":"info","msg":"listening","address":"127.0.0.1:43123"}' >&2
            echo '{"level":"info","msg":"ready"}' >&2
            echo '{"level":"info","msg":"listening","address":"unix:/run/x"}' >&2
            exec sleep 600
            """)
        #expect(try await daemon.nextListening() == .tcp(host: "127.0.0.1", port: 43123))
        #expect(try await daemon.nextListening() == .unix(path: "/run/x"))
        #expect(try await daemon.waitForLog("ready")["level"].string == "info")
        try await daemon.waitForLine { $0.hasPrefix("not") }
        #expect(daemon.output.contains("not JSON"))
        #expect(try await daemon.terminate() == .signalled(SIGTERM))
    }

    @Test("A daemon that ends at its start fails the wait at once")
    func diesAtStart() async throws {
        let daemon = try await daemon("echo no database; exit 64")
        let failure = await #expect(throws: ClientFailure.self) { try await daemon.nextListening() }
        #expect(failure?.description.contains("no database") == true)
        #expect(try await daemon.waitForExit() == .exited(64))
    }

    @Test("A stopped daemon prints nothing until it is continued")
    func stopAndContinue() async throws {
        let daemon = try await daemon("trap 'echo usr1' USR1; echo ready; while :; do sleep 0.05; done")
        try await daemon.waitForLine { $0 == "ready" }
        await daemon.signal(SIGSTOP)
        await daemon.signal(SIGUSR1)
        await #expect(throws: ClientFailure.self) {
            try await daemon.waitForLine(within: .milliseconds(200)) { $0 == "usr1" }
        }
        await daemon.signal(SIGCONT)
        try await daemon.waitForLine { $0 == "usr1" }
    }

    @Test("The environment contains only the given settings")
    func environment() async throws {
        #expect(!DaemonProcess.cleanEnvironment().keys.contains { $0.hasPrefix("PG") || $0.hasPrefix("LETSSWITCH_") })
        let daemon = try await daemon("env", environment: ["LETSSWITCH_REMINDER_LEAD": "2s"])
        #expect(try await daemon.waitForExit() == .exited(0))
        let configuring = daemon.output.split(separator: "\n").filter {
            $0.hasPrefix("PG") || $0.hasPrefix("LETSSWITCH_") || $0.hasPrefix("DATABASE_URL") || $0.hasPrefix("PORT=")
        }
        #expect(configuring == ["LETSSWITCH_REMINDER_LEAD=2s"])
    }
}
