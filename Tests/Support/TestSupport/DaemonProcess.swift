import Foundation

/// The built `letsswitchd`, run as a user runs it. A wait of the test that ends in vain reports its log.
package struct DaemonProcess: Sendable {
    package let process: ChildProcess

    /// Starts the daemon. It inherits the test's environment without the variables that configure it (`PG…`,
    /// `LETSSWITCH_…`, `DATABASE_URL`, `PORT`) and without systemd's sockets. `environment` is added.
    package static func start(
        _ arguments: [String] = [], environment: [String: String] = [:], executable: String? = nil
    ) async throws -> DaemonProcess {
        let process = try await ChildProcess.start(
            try executable ?? self.executable(), arguments,
            environment: cleanEnvironment().merging(environment) { _, given in given })
        Evidence.addLog(of: "process \(process.pid), \(arguments.joined(separator: " "))") { [weak process] in
            process?.lines
        }
        return DaemonProcess(process: process)
    }

    /// Starts the daemon and waits for the address on which it listens.
    package static func listening(
        _ arguments: [String] = [], environment: [String: String] = [:], executable: String? = nil,
        within allowed: Duration = Deadline.standard
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        let daemon = try await start(arguments, environment: environment, executable: executable)
        return (daemon, try await daemon.nextListening(within: allowed))
    }

    /// Starts the daemon and waits until it is ready. It listens earlier, while its tables are still being created. If
    /// the address doesn't serve `/readyz`, the daemon counts as ready.
    package static func ready(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        let started = try await listening(arguments, environment: environment)
        try await eventually("readiness") {
            (try? await HTTPTestClient.request(at: started.endpoint, "GET", "/readyz").status) != 503
        }
        return started
    }

    /// Returns the next line of either output that fulfils `condition`.
    @discardableResult
    package func waitForLine(
        _ what: String = "a line", within allowed: Duration = Deadline.standard,
        where condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        try await process.lines.next(what, within: allowed) { condition($0.text) }.text
    }

    /// Returns the next log line (JSON) whose `msg` is `message` and that fulfils `condition`.
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

    /// Returns the address in the next `listening` line. The daemon writes one line for each `--listen`.
    package func nextListening(within allowed: Duration = Deadline.standard) async throws -> ClientEndpoint {
        let log = try await waitForLog("listening", within: allowed)
        guard let address = log["address"].string, let endpoint = ClientEndpoint(address) else {
            throw ClientFailure.violation("a listening line without an address: \(log)")
        }
        return endpoint
    }

    /// Sends `SIGTERM`, `SIGKILL`, `SIGSTOP`, `SIGCONT`, …
    package func signal(_ number: Int32) async { await process.signal(number) }

    package func waitForExit(within allowed: Duration = Deadline.standard) async throws -> ExitStatus {
        try await process.waitForExit(within: allowed)
    }

    /// Stops the daemon as an operator does, and waits for its end.
    @discardableResult
    package func terminate(within allowed: Duration = Deadline.standard) async throws -> ExitStatus {
        await signal(SIGTERM)
        return try await waitForExit(within: allowed)
    }

    /// All lines so far (the newest 10,000), for a failure's message.
    package var output: String { process.lines.all.map(\.text).joined(separator: "\n") }

    /// Returns the path of the daemon in the directory of the test's executable, or else in the debug build's
    /// directory.
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

    /// Returns the test's environment without the variables that configure a daemon.
    package static func cleanEnvironment() -> [String: String] {
        ProcessInfo.processInfo.environment.filter { name, _ in
            !name.hasPrefix("PG") && !name.hasPrefix("LETSSWITCH_") && !name.hasPrefix("LISTEN_")
                && !["DATABASE_URL", "PORT", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"].contains(name)
        }
    }

    private static func log(_ line: String) -> TestJSON? {
        guard line.hasPrefix("{") else { return nil }
        return try? TestJSON(parsing: Array(line.utf8))
    }
}
