/// `curl`, an independent client.
package enum Curl {
    package struct Result: Sendable, CustomStringConvertible {
        package let status: ExitStatus
        /// Standard output. Standard error is separate, because the order between two pipes is unknown.
        package let output: String
        package let notes: String

        package var description: String { "\(status)\n\(output)\n\(notes)" }
    }

    /// Runs `curl` without its progress output.
    package static func run(_ arguments: [String]) async throws -> Result {
        let process = try await ChildProcess.start(
            "/usr/bin/curl", ["-sS", "--max-time", "150"] + arguments, environment: DaemonProcess.cleanEnvironment())
        let status = try await process.waitForExit()
        return Result(status: status, output: process.text(of: .output), notes: process.text(of: .error))
    }
}
