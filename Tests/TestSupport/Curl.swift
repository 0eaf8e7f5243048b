/// `curl`, a client that nobody here wrote.
package enum Curl {
    /// Runs it without a word about progress; gives its exit status and what it wrote.
    package static func run(_ arguments: [String]) async throws -> (status: ExitStatus, output: String) {
        let process = try await ChildProcess.start(
            "/usr/bin/curl", ["-sS", "--max-time", "60"] + arguments, environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit(within: .seconds(70))
        return (status, process.lines.all.map(\.text).joined(separator: "\n"))
    }
}
