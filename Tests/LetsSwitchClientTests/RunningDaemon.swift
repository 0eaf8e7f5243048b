import Glibc
import LetsSwitchClient
import TestSupport

/// A daemon with a database of its own, for one test.
enum RunningDaemon {
    static func with(
        _ arguments: [String], _ body: (ServerAddress, DaemonProcess) async throws -> Void
    ) async throws {
        let database = try await TestCluster.shared.makeDatabase()
        let (daemon, endpoint) = try await DaemonProcess.listening(
            ["--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json"] + arguments)
        do {
            try await body(try ServerAddress("\(endpoint)"), daemon)
        } catch {
            await daemon.signal(SIGKILL)
            throw error
        }
        await daemon.signal(SIGKILL)
        _ = try await daemon.waitForExit()
    }
}
