import Foundation
import JourneyTestSupport
import TestSupport

/// A daemon of a journey with its own state directory, and a way to run its commands.
struct ControlledDaemon: Sendable {
    let journey: Journey
    let daemon: DaemonProcess
    let endpoint: ClientEndpoint
    let directory: String

    var socket: String { "\(directory)/control.sock" }

    /// - Parameter folder: The path of the state directory in the test's directory, with a slash at its beginning.
    static func run(
        _ arguments: [String] = [], in folder: String = "", _ body: (ControlledDaemon) async throws -> Void
    ) async throws {
        try await Journey.run { journey in
            let directory = TestClusterDirectories.shared.make() + folder
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            let (daemon, endpoint) = try await journey.process(["--state-dir", directory] + arguments)
            let control = ControlledDaemon(
                journey: journey, daemon: daemon, endpoint: endpoint, directory: directory)
            // The socket's file exists a moment before the daemon listens on it.
            try await daemon.waitForLog("listening for operators' commands")
            try await body(control)
        }
    }

    /// Returns a command's exit status, output and errors.
    func command(
        _ arguments: [String]
    ) async throws -> (status: ExitStatus, output: String, errors: String) {
        let command = try await DaemonProcess.start(arguments + ["--state-dir", directory])
        let status = try await command.waitForExit()
        let errors = command.process.text(of: .error).split(separator: "\n").joined(separator: "\n")
        return (status, command.process.text(of: .output), errors)
    }

    /// Returns the objects that a command prints into a pipe. Throws if the command fails.
    func rows(_ arguments: [String]) async throws -> [TestJSON] {
        let (status, output, errors) = try await command(arguments)
        guard status == .exited(0) else { throw ClientFailure.violation("\(arguments): \(status), \(errors)") }
        return try output.split(separator: "\n").map { try TestJSON(parsing: Array($0.utf8)) }
    }
}

/// The room of Ada and Bob, open on two daemons.
struct SharedRoom: Sendable {
    let other: ClientEndpoint
    let ada: RegisteredTask
    let bob: RegisteredTask

    init(_ control: ControlledDaemon) async throws {
        other = try await control.journey.daemon()
        let start = try await control.journey.instant(in: 1_800)
        ada = try await control.endpoint.register("ada", start)
        let bob = try await control.endpoint.register("bob", start)
        self.bob = bob
        try await control.journey.advance(to: start, -30)
        try await eventually("the room to open") { try await control.endpoint.status(of: bob.socketId) == 101 }
    }

    func enter(_ task: UUID, at endpoint: ClientEndpoint) async throws -> WebSocketTestClient {
        let room = try await WebSocketTestClient.connect(
            to: endpoint, "\(ClientEndpoint.room(bob.socketId))&taskId=\(task.uuidString)")
        _ = try await room.nextMessage()
        return room
    }
}
