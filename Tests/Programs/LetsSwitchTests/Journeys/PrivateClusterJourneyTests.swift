import Domain
import Foundation
import Glibc
import JourneyTestSupport
import TestSupport
import Testing

/// `letsswitchd` with only a state directory, as `make run` starts it. It uses the real clock.
@Suite(.serialized) struct PrivateClusterJourneyTests {
    private func withStateDirectory(_ body: (String) async throws -> Void) async throws {
        try await TestLimiter.journeys.hold {
            let path = "/tmp/letsswitch-state-\(UUID().uuidString.prefix(8))"
            // The cluster's user must be able to enter the directory.
            mkdir(path, 0o755)
            defer { clear(path) }
            try await body(path)
        }
    }

    /// Removes the directory, and stops servers that a failed test left running in it.
    private func clear(_ path: String) {
        for state in [path, "\(path)/first", "\(path)/second"] {
            if let pid = postmaster(state).flatMap({ pid_t($0) }), pid > 1 { kill(pid, SIGQUIT) }
        }
        try? FileManager.default.removeItem(atPath: path)
    }

    private func start(_ path: String) async throws -> (daemon: DaemonProcess, endpoint: ClientEndpoint) {
        try await DaemonProcess.ready(
            ["--listen", "127.0.0.1:0", "--state-dir", path, "--reminder-lead", "1s", "--database-wait", "30s"])
    }

    private func postmaster(_ path: String) -> String? {
        let file = try? String(contentsOfFile: "\(path)/postgres/data/postmaster.pid", encoding: .utf8)
        return file?.split(separator: "\n").first.map(String.init)
    }

    @Test("The data is kept after a stop and after a kill")
    func restarts() async throws {
        try await withStateDirectory { path in
            var (daemon, endpoint) = try await start(path)
            let start = Instant(seconds: Int(Date().timeIntervalSince1970) + 7200)
            let task = try await endpoint.register("ada", start)
            #expect(postmaster(path) != nil)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(postmaster(path) == nil)

            (daemon, endpoint) = try await self.start(path)
            let again = try await endpoint.register("ada", start)
            #expect(again == task)
            let running = try #require(postmaster(path))
            // Another daemon can't use the directory meanwhile.
            let other = try await DaemonProcess.start(["--listen", "127.0.0.1:0", "--state-dir", path])
            #expect(try await other.waitForExit() == .exited(1))
            #expect(other.output.contains("in use by process"))

            await daemon.signal(SIGKILL)
            #expect(try await daemon.waitForExit() == .signalled(SIGKILL))
            #expect(postmaster(path) == running)
            (daemon, endpoint) = try await self.start(path)
            #expect(postmaster(path) == running)
            #expect(try await endpoint.register("bob", start).socketId == task.socketId)

            // When the server dies, the daemon starts it again.
            let pid = try #require(pid_t(running))
            kill(pid, SIGQUIT)
            try await eventually("another server") { postmaster(path) != running }
            try await eventually("readiness") {
                try await endpoint.get("/readyz").status == 200
            }
            #expect(try await endpoint.register("ada", start).isPaired)
            #expect(try await daemon.terminate() == .exited(0))
            #expect(postmaster(path) == nil)
        }
    }

    private func command(_ arguments: [String]) async throws -> (status: TestSupport.ExitStatus, output: String) {
        let command = try await DaemonProcess.start(arguments)
        return (try await command.waitForExit(), command.output)
    }

    @Test(
        "A backup taken from a running daemon can be restored"
    )
    func backup() async throws {
        try await withStateDirectory { path in
            let (daemon, endpoint) = try await start("\(path)/first")
            let start = Instant(seconds: Int(Date().timeIntervalSince1970) + 7200)
            let task = try await endpoint.register("ada", start)
            let (file, first, second) = ("\(path)/backup", "--state-dir=\(path)/first", "--state-dir=\(path)/second")
            let taken = try await command(["backup", file, first])
            #expect(taken.status == .exited(0) && taken.output.hasPrefix("backup: \(file), "), "\(taken)")
            let early = try await command(["restore", file, first])
            #expect(early.status == .exited(1) && early.output.contains("in use by process"), "\(early)")
            #expect(try await daemon.terminate() == .exited(0))

            let restored = try await command(["restore", file, second])
            #expect(restored.status == .exited(0) && restored.output.hasPrefix("restored: \(file), "), "\(restored)")
            let again = try await command(["restore", file, second])
            #expect(again.status == .exited(1) && again.output.contains("isn't empty"), "\(again)")
            let (next, another) = try await self.start("\(path)/second")
            #expect(try await another.register("ada", start) == task)
            #expect(try await another.register("bob", start).socketId == task.socketId)
            #expect(try await next.terminate() == .exited(0))
        }
    }
}
