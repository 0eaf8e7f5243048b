import Foundation

/// The built `letsswitchd`, run as a user runs it.
package struct DaemonProcess: Sendable {
    package let process: ChildProcess

    /// Starts the daemon. Of the test's environment it inherits all but what configures it (`PG…`, `LETSSWITCH_…`,
    /// `DATABASE_URL`, `PORT`) and systemd's sockets; `environment` is added.
    package static func start(
        _ arguments: [String] = [], environment: [String: String] = [:], executable: String? = nil
    ) async throws -> DaemonProcess {
        DaemonProcess(
            process: try await ChildProcess.start(
                try executable ?? self.executable(), arguments,
                environment: cleanEnvironment().merging(environment) { _, given in given }))
    }

    /// Starts the daemon and waits for the address on which it listens.
    package static func listening(
        _ arguments: [String] = [], environment: [String: String] = [:], executable: String? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        let daemon = try await start(arguments, environment: environment, executable: executable)
        return (daemon, try await daemon.nextListening(within: allowed))
    }

    /// The same, and waits until the daemon is ready, since it already listens while its tables are created. Where
    /// `/health` isn't available, it is taken for ready.
    package static func ready(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        let started = try await listening(arguments, environment: environment)
        try await eventually("readiness") {
            (try? await HTTPTestClient.request(at: started.endpoint, "GET", "/readyz").status) != 503
        }
        return started
    }

    /// The next line of either output that fulfils `condition`.
    @discardableResult
    package func waitForLine(
        _ what: String = "a line", within allowed: Duration = Deadline.standard,
        where condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        try await process.lines.next(what, within: allowed) { condition($0.text) }.text
    }

    /// The next log line (JSON) whose `msg` is `message`, and that fulfils `condition`.
    @discardableResult
    package func waitForLog(
        _ message: String, within allowed: Duration = Deadline.standard,
        where condition: @escaping @Sendable (TestJSON) -> Bool = { _ in true }
    ) async throws -> TestJSON {
        let line = try await waitForLine("the log line \"\(message)\"", within: allowed) { line in
            guard let log = Self.log(line), log["msg"].string == message else { return false }
            return condition(log)
        }
        return Self.log(line) ?? .absent
    }

    /// The address of the next `listening` line; with several `--listen` there is one for each.
    package func nextListening(within allowed: Duration = Deadline.standard) async throws -> ClientEndpoint {
        let log = try await waitForLog("listening", within: allowed)
        guard let address = log["address"].string, let endpoint = ClientEndpoint(address) else {
            throw ClientFailure.violation("a listening line without an address: \(log)")
        }
        return endpoint
    }

    /// `SIGTERM`, `SIGKILL`, `SIGSTOP`, `SIGCONT`, …
    package func signal(_ number: Int32) async { await process.signal(number) }

    package func waitForExit(within allowed: Duration = Deadline.standard) async throws -> ExitStatus {
        try await process.waitForExit(within: allowed)
    }

    /// Ends the daemon as an operator does, and waits.
    @discardableResult
    package func terminate(within allowed: Duration = Deadline.standard) async throws -> ExitStatus {
        await signal(SIGTERM)
        return try await waitForExit(within: allowed)
    }

    /// All lines so far (the newest 10,000), for a failure's message.
    package var output: String { process.lines.all.map(\.text).joined(separator: "\n") }

    /// The daemon beside the test's own executable (one build directory holds both); else the debug build's.
    package static func executable() throws(ClientFailure) -> String {
        let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        let candidates = [
            own.deletingLastPathComponent().appendingPathComponent("letsswitchd"),
            Checkout.url(".build/debug/letsswitchd"),
        ]
        for candidate in candidates where FileManager.default.isExecutableFile(atPath: candidate.path) {
            return candidate.path
        }
        throw .misuse("letsswitchd is not built; looked for \(candidates.map(\.path))")
    }

    /// The test's environment without what would configure a daemon.
    package static func cleanEnvironment() -> [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in
            !name.hasPrefix("PG") && !name.hasPrefix("LETSSWITCH_") && !name.hasPrefix("LISTEN_")
                && !["DATABASE_URL", "PORT", "NOTIFY_SOCKET"].contains(name)
        }
    }

    private static func log(_ line: String) -> TestJSON? {
        guard line.hasPrefix("{") else { return nil }
        return try? TestJSON(parsing: Array(line.utf8))
    }
}
