import Foundation
import Glibc
import TestSupport

@testable import LetsSwitch

/// A daemon of a journey with a state directory of its own, and its commands.
struct ControlledDaemon: Sendable {
    let journey: Journey
    let daemon: DaemonProcess
    let endpoint: ClientEndpoint
    let directory: String

    var socket: String { "\(directory)/control.sock" }

    static func run(
        _ arguments: [String] = [], _ body: (ControlledDaemon) async throws -> Void
    ) async throws {
        try await Journey.run { journey in
            let directory = TestClusterDirectories.shared.make()
            let (daemon, endpoint) = try await journey.process(["--state-dir", directory] + arguments)
            let control = ControlledDaemon(
                journey: journey, daemon: daemon, endpoint: endpoint, directory: directory)
            try await eventually("the control socket") { access(control.socket, F_OK) == 0 }
            try await body(control)
        }
    }

    /// What became of a command, and what it said on standard error.
    func command(
        _ arguments: [String]
    ) async throws -> (status: ExitStatus, output: String, errors: String) {
        let command = try await DaemonProcess.start(arguments + ["--state-dir", directory])
        let status = try await command.waitForExit()
        let errors = command.process.text(of: .error).split(separator: "\n").joined(separator: "\n")
        return (status, command.process.text(of: .output), errors)
    }

    /// The objects that a command prints into a pipe; it must succeed.
    func rows(_ arguments: [String]) async throws -> [TestJSON] {
        let (status, output, errors) = try await command(arguments)
        guard status == .exited(0) else { throw ClientFailure.violation("\(arguments): \(status), \(errors)") }
        return try output.split(separator: "\n").map { try TestJSON(parsing: Array($0.utf8)) }
    }
}
