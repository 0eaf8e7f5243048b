import Foundation
import Glibc
import InterfaceTestSupport
import Postgres
import TestSupport

@testable import LetsSwitchClient

/// A daemon with its own database for one test. Its clients check its messages against the described interface.
enum RunningDaemon {
    static func with(
        _ arguments: [String], _ body: (ValidatingTransport, DaemonProcess) async throws -> Void
    ) async throws {
        try await with(arguments, on: try await TestCluster.shared.makeDaemonDatabase(), body)
    }

    /// Runs a test that also changes the database, such as its clock.
    static func withDatabase(
        _ arguments: [String], _ body: (ValidatingTransport, PostgresClient) async throws -> Void
    ) async throws {
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let client = PostgresClient(configuration: PostgresConfiguration(conninfo: database))
        try await with(arguments, on: database) { server, _ in try await body(server, client) }
        await client.shutdown()
    }

    private static func with(
        _ arguments: [String], on database: String, _ body: (ValidatingTransport, DaemonProcess) async throws -> Void
    ) async throws {
        let (daemon, endpoint) = try await DaemonProcess.listening(
            ["--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json"] + arguments)
        do {
            try await InterfaceValidation.validating { try await body(try ValidatingTransport(to: endpoint), daemon) }
        } catch {
            await daemon.signal(SIGKILL)
            throw error
        }
        await daemon.signal(SIGKILL)
        _ = try await daemon.waitForExit()
    }

    /// Creates a question session with its own presenter.
    static func makeSession(at server: any Transport) async throws -> UUID {
        struct Session: Decodable { let id: UUID }
        let requests = DeviceRequests(
            transport: server, deviceID: "speaker", fields: [], reconnect: .never)
        let made = try await requests.post("/questions/sessions", ["deviceId": "speaker", "title": "Tea"])
        return try (made.decoded(as: "session") as Session).id
    }
}
