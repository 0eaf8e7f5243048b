/// `curl`, a client that nobody here wrote.
package enum Curl {
    package struct Result: Sendable, CustomStringConvertible {
        package let status: ExitStatus
        /// What it wrote on standard output, and what it said on standard error. Apart: who reads two pipes learns nothing of
        /// the order in which they were written to.
        package let output: String
        package let notes: String

        package var description: String { "\(status)\n\(output)\n\(notes)" }
    }

    /// Runs it without a word about progress.
    package static func run(_ arguments: [String]) async throws -> Result {
        let process = try await ChildProcess.start(
            "/usr/bin/curl", ["-sS", "--max-time", "150"] + arguments, environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit()
        return Result(status: status, output: process.text(of: .output), notes: process.text(of: .error))
    }
}
