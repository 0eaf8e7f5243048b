import Foundation

/// Independent implementations from PyPI. set-up.sh installs them into virtual environments; `areInstalled` is false if
/// that failed.
package struct PythonPackages: Sendable {
    /// `icalendar`, `http-ece`, `py-vapid`, `PyJWT`.
    package static let ofTests = PythonPackages(in: "python", hint: "make setup-test")
    /// Readers of OpenAPI: `openapi-spec-validator`, `schemathesis`.
    package static let ofOpenAPI = PythonPackages(in: "python-openapi", hint: "make setup-interop")
    /// Clients of Action Cable: `aioactioncable` and `actioncable-client`, and `websockets`, which they need.
    package static let ofCable = PythonPackages(in: "python-cable", hint: "make setup-interop")

    /// Autobahn's test suite for WebSockets, which needs Python 2.7.
    package static let ofAutobahn = PythonPackages(in: "python-autobahn", hint: "make setup-interop")

    private let directory: String
    package let areInstalled: Bool
    package let hint: String

    private init(in name: String, hint: String) {
        directory = Checkout.url(".build/\(name)").path
        areInstalled = FileManager.default.fileExists(atPath: "\(directory)/packages")
        self.hint = "packages from PyPI are missing: \(hint)"
    }

    /// Runs a program that reads JSON from its standard input and prints JSON, one line each.
    package func run(
        _ program: String, _ input: TestJSON, within allowed: Duration = Deadline.standard
    ) async throws -> TestJSON {
        let process = try await start(program, converses: true)
        guard let conversation = process.conversation else { throw ClientFailure.misuse("no conversation") }
        do {
            try await conversation.send(try input.encoded() + [0x0A], within: allowed)
            return try TestJSON(parsing: try await conversation.receiveUntil("\n", limit: 32 << 20, within: allowed))
        } catch {
            throw ClientFailure.violation("\(error); Python said \(process.lines.all.map(\.text).suffix(20))")
        }
    }

    /// Starts a program that came with a package.
    package func tool(_ name: String, _ arguments: [String]) async throws -> ChildProcess {
        try await ChildProcess.start(
            "\(directory)/bin/\(name)", arguments,
            environment: DaemonProcess.cleanEnvironment().filter { !$0.key.hasPrefix("PYTHON") })
    }

    /// Starts a program. Its output is in the process's `lines`, unless it converses.
    package func start(_ program: String, converses: Bool = false) async throws -> ChildProcess {
        try await ChildProcess.start(
            "\(directory)/bin/python", ["-u", "-c", program],
            environment: DaemonProcess.cleanEnvironment().filter { !$0.key.hasPrefix("PYTHON") }, converses: converses)
    }
}
