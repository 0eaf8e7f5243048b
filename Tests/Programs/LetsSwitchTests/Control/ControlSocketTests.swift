import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

@testable import Control
@testable import Settings

/// The control socket: who may use it, which requests it accepts, and which daemon owns it.
@Suite struct ControlSocketTests {
    @Test("The socket belongs to its user and is removed with the daemon")
    func life() async throws {
        try await ControlledDaemon.run { control in
            var status = stat()
            #expect(lstat(control.socket, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
            #expect(try await control.daemon.terminate() == .exited(0))
            #expect(access(control.socket, F_OK) != 0)
            let empty = try await control.command(["connections"])
            #expect(empty.status == .exited(1))
            #expect(empty.errors == "letsswitchd: no daemon is listening at \(control.socket)")
        }
    }

    @Test("Commands reach a daemon even if the path of its state directory is long")
    func longPath() async throws {
        let folder = "/" + String(repeating: "a", count: 120) + "/" + String(repeating: "b", count: 120)
        try await ControlledDaemon.run(in: folder) { control in
            var status = stat()
            #expect(lstat(control.socket, &status) == 0 && status.st_mode == S_IFSOCK | 0o600)
            #expect(try await control.command(["connections"]).status == .exited(0))
            // A second daemon takes the path over after a crash, as it does with a short path.
            await control.daemon.signal(SIGKILL)
            _ = try await control.daemon.waitForExit()
            let (second, _) = try await control.journey.process(["--state-dir", control.directory])
            try await second.waitForLog("listening for operators' commands")
            #expect(try await control.command(["connections"]).status == .exited(0))
            #expect(try await second.terminate() == .exited(0))
            #expect(access(control.socket, F_OK) != 0)
            let nobody = try await control.command(["connections"])
            #expect(nobody.errors == "letsswitchd: no daemon is listening at \(control.socket)")
        }
    }

    @Test("Only a killed daemon's socket is taken over")
    func succession() async throws {
        try await ControlledDaemon.run { control in
            let (second, _) = try await control.journey.process(["--state-dir", control.directory])
            let refused = try await second.waitForLog("operators' commands are unavailable")
            #expect(refused["level"] == "warning" && refused["error"].string?.contains("in use") == true)
            await control.daemon.signal(SIGKILL)
            _ = try await control.daemon.waitForExit()
            #expect(access(control.socket, F_OK) == 0)
            #expect(try await control.command(["connections"]).status == .exited(1))
            let (third, _) = try await control.journey.process(["--state-dir", control.directory])
            try await third.waitForLog("listening for operators' commands")
            #expect(try await control.command(["connections"]).status == .exited(0))
            #expect(try await second.terminate() == .exited(0))
            #expect(try await control.command(["connections"]).status == .exited(0))
            #expect(try await third.terminate() == .exited(0))
        }
    }

    @Test("Without a state directory the daemon runs without the socket")
    func nowhere() async throws {
        try await Journey.run { journey in
            let (daemon, endpoint) = try await journey.process(["--state-dir", "/nonexistent/state"])
            try await daemon.waitForLog("operators' commands are unavailable: there is no state directory")
            #expect(try await endpoint.get("/healthz").status == 200)
            #expect(try await daemon.terminate() == .exited(0))
        }
    }

    @Test(
        "An unknown command is refused with a text",
        arguments: [
            ("connections", "The body must be valid JSON."), ("[]", "The body must be a JSON object."),
            ("{}", "command is missing"), (#"{"command":"sing"}"#, "command is unknown to this version of the daemon"),
            (#"{"command":"close","target":"here"}"#, "target must be the UUID of a room"),
            (#"{"command":"drain","rate":0}"#, "rate must be from 1 to 100000"),
            (String(repeating: " ", count: 5_000), "the command is too long"),
        ])
    func refusals(request: String, reason: String) async throws {
        try await ControlledDaemon.run { control in
            let connection = try await RawConnection.connect(to: .unix(path: control.socket))
            try await connection.send(request + "\n")
            let answer = try TestJSON(parsing: try await connection.receiveToEnd())
            #expect(answer["end"] == "failed")
            #expect(answer["reason"].string?.contains(reason) == true, "\(answer)")
            await connection.close()
        }
    }

    @Test("The number of clients and their time are limited")
    func bounds() async throws {
        try await ControlledDaemon.run { control in
            var waiting: [RawConnection] = []
            for _ in 0..<8 { waiting.append(try await RawConnection.connect(to: .unix(path: control.socket))) }
            let ninth = try await control.command(["connections"])
            #expect(ninth.status == .exited(1) && ninth.errors == "letsswitchd: too many commands at once")
            for connection in waiting {
                let answer = try TestJSON(parsing: try await connection.receiveToEnd())
                #expect(answer == ["end": "failed", "reason": "no command arrived in time"])
                await connection.close()
            }
            #expect(try await control.command(["connections"]).status == .exited(0))
        }
    }
}
