import Foundation

/// Implementations from PyPI that nobody here wrote: `icalendar`, `http-ece`, `py-vapid`. set-up.sh puts them into an
/// environment of their own; where that could not be made, `areInstalled` is false.
package enum PythonPackages {
    private static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".build/python").path

    package static let areInstalled = FileManager.default.fileExists(atPath: "\(directory)/packages")
    package static let hint = "the packages from PyPI are missing: make setup-test"

    /// Runs a program that reads JSON from its standard input and prints JSON, each one line.
    package static func run(
        _ program: String, _ input: TestJSON, within allowed: Duration = Deadline.standard
    ) async throws -> TestJSON {
        let process = try await ChildProcess.start(
            "\(directory)/bin/python", ["-u", "-c", program],
            environment: DaemonProcess.cleanEnvironment().filter { !$0.key.hasPrefix("PYTHON") }, converses: true)
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        do {
            try await conversation.send(try input.encoded() + [0x0A], within: allowed)
            return try TestJSON(parsing: try await conversation.receiveUntil("\n", limit: 32 << 20, within: allowed))
        } catch {
            throw ClientFailure.violation("\(error); Python said \(process.lines.all.map(\.text).suffix(20))")
        }
    }
}
