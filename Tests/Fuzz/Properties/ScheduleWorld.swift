import Basics
import Dispatch
import Glibc
import LetsSwitch
import Observability
import Postgres
import TestSupport
import Wire

@testable import Notifications
@testable import Settings

/// Two complete daemons on one database, over real sockets. They run until the process ends.
actor ScheduleWorld {
    private static let shared = Locked<Task<ScheduleWorld, any Error>?>(nil)

    let endpoints: [ClientEndpoint]
    private let daemons: [Daemon]
    private let client: PostgresClient
    /// Deletes the rows that users' requests have written.
    private let clear: PostgresStatement
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    static func get() async throws -> ScheduleWorld {
        let making = shared.withLock { shared in
            let making = shared ?? Task { try await ScheduleWorld() }
            shared = making
            return making
        }
        return try await making.value
    }

    private init() async throws {
        // A write to a closed connection then fails with an error, and doesn't end the process.
        signal(SIGPIPE, SIG_IGN)
        let conninfo = try await TestCluster.shared.makeDatabase()
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        var configuration = Configuration()
        configuration.listen = [.tcp(host: "127.0.0.1", port: 0)]
        configuration.database = .url(conninfo)
        configuration.loops = 1
        configuration.postgres.maxConnections = 2
        configuration.postgres.stallTimeout = .seconds(30)
        configuration.postgres.queryTimeout = .seconds(60)
        configuration.providers.webPush.contact = "mailto:nobody@localhost"
        configuration.providers.webPush.allowsPrivateAddresses = true
        // No server listens there, so messages stay queued.
        configuration.providers.ntfy.server = "http://127.0.0.1:1"
        var endpoints: [ClientEndpoint] = []
        var daemons: [Daemon] = []
        for _ in 0..<2 {
            let daemon = Daemon(configuration, log: Log(level: .error, format: .json, descriptor: nowhere))
            daemons.append(daemon)
            guard let address = try await daemon.start(patience: .seconds(60)).first,
                let endpoint = ClientEndpoint("\(address)")
            else {
                throw BrokenProperty("a daemon that listens nowhere")
            }
            endpoints.append(endpoint)
        }
        var postgres = PostgresConfiguration(conninfo: conninfo)
        postgres.maxConnections = 1
        postgres.queryTimeout = .seconds(60)
        postgres.stallTimeout = .seconds(30)
        client = PostgresClient(configuration: postgres)
        let named = try await client.query(
            PostgresStatement(
                name: "",
                sql: """
                    SELECT oid::regclass AS name FROM pg_catalog.pg_class
                    WHERE relnamespace IN ('core'::regnamespace, 'schedule'::regnamespace, 'reminders'::regnamespace)
                        AND relkind = 'r' AND relname NOT IN ('secret', 'provider', 'daemon', 'reporter')
                    """), [], timeout: nil)
        let deletions = try named.map { row in
            let table = try row.string("name")
            return "\(table.replacing(".", with: "_")) AS (DELETE FROM \(table))"
        }
        clear = PostgresStatement(name: "fuzz_clear", sql: "WITH \(deletions.joined(separator: ", ")) SELECT 1 AS one")
        self.endpoints = endpoints
        self.daemons = daemons
    }

    /// Runs `body` without other callers at the same time, in a database without users' data.
    func alone(_ body: (ScheduleWorld) async throws -> Void) async throws {
        while isTaken { await withCheckedContinuation { waiting.append($0) } }
        isTaken = true
        defer {
            isTaken = false
            if !waiting.isEmpty { waiting.removeFirst().resume() }
        }
        _ = try await client.query(clear, [], timeout: nil)
        try await body(self)
    }

    func notify(_ channel: String, _ payload: String) async throws {
        do {
            _ = try await client.query(
                PostgresStatement(name: "fuzz_notify", sql: "SELECT pg_notify($1, $2)"),
                [.text(channel), .text(payload)], timeout: nil)
        } catch let error as PostgresError {
            // The server's errors are expected, for example if a notification is too long.
            guard case .server = error.kind else { throw error }
        }
    }
}
