import DoorTestSupport
import Foundation
import Glibc
import Postgres
import TestSupport

@testable import LetsSwitchClient

/// A daemon with a database of its own, for one test, whose clients have what it says judged.
enum RunningDaemon {
    static func with(
        _ arguments: [String], _ body: (JudgedTransport, DaemonProcess) async throws -> Void
    ) async throws {
        try await with(arguments, on: try await TestCluster.shared.makeDaemonDatabase(), body)
    }

    /// The same for who changes something in that database, such as what its clock shows.
    static func withDatabase(
        _ arguments: [String], _ body: (JudgedTransport, PostgresClient) async throws -> Void
    ) async throws {
        let database = try await TestCluster.shared.makeDaemonDatabase()
        let client = PostgresClient(configuration: PostgresConfiguration(conninfo: database))
        try await with(arguments, on: database) { server, _ in try await body(server, client) }
        await client.shutdown()
    }

    private static func with(
        _ arguments: [String], on database: String, _ body: (JudgedTransport, DaemonProcess) async throws -> Void
    ) async throws {
        let (daemon, endpoint) = try await DaemonProcess.listening(
            ["--listen", "127.0.0.1:0", "--database-url", database, "--log-format", "json"] + arguments)
        do {
            try await ProductDoors.judged { try await body(try JudgedTransport(to: endpoint), daemon) }
        } catch {
            await daemon.signal(SIGKILL)
            throw error
        }
        await daemon.signal(SIGKILL)
        _ = try await daemon.waitForExit()
    }

    /// A session of questions, of a presenter whom nobody else is.
    static func makeSession(at server: any Transport) async throws -> UUID {
        struct Session: Decodable { let id: UUID }
        let requests = DeviceRequests(
            transport: server, deviceID: "speaker", fields: [], reconnect: .never)
        let made = try await requests.post("/questions/sessions", ["deviceId": "speaker", "title": "Tea"])
        return try (made.decoded(as: "session") as Session).id
    }
}
