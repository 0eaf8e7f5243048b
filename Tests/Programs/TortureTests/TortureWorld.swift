import Foundation
import Glibc
import JourneyTestSupport
import TestSupport

@testable import Postgres

/// Daemons and their database, which a run kills and starts again.
actor TortureWorld {
    enum Kind: String, CaseIterable {
        /// Two daemons on one database. The test starts the database again, like an init system would.
        case shared
        /// Three daemons, with users in rooms that receive each other's ales over the bus.
        case fleet
        /// One daemon that runs the database itself.
        case privateCluster
    }

    private static let arguments = [
        "--listen", "127.0.0.1:0", "--reminder-lead", "12h", "--database-connections", "4", "--close-timeout", "0.2s",
    ]

    let kind: Kind
    private let flags: [String]
    private let stateDirectory: String
    private let cluster: PrivateCluster?
    private let conninfo: String
    private var daemons: [(process: DaemonProcess, endpoint: ClientEndpoint?)] = []
    nonisolated let client: PostgresClient

    /// Starts only the database, except for ``Kind/privateCluster``, whose daemon starts it.
    ///
    /// - Parameter flags: Additional flags of each daemon.
    init(_ kind: Kind, flags: [String] = []) async throws {
        self.kind = kind
        self.flags = flags
        stateDirectory = TestClusterDirectories.shared.make()
        switch kind {
        case .shared, .fleet:
            let cluster = PrivateCluster(
                stateDirectory: stateDirectory, names: .test, isDurable: false, maxConnections: 100)
            conninfo = try await cluster.start().conninfo
            self.cluster = cluster
        case .privateCluster:
            cluster = nil
            conninfo = ClusterPlacement.conninfo(
                names: .test, sockets: "\(stateDirectory)/postgres/socket", database: "letsswitch")
        }
        var configuration = PostgresConfiguration(conninfo: conninfo)
        configuration.maxConnections = 2
        client = PostgresClient(configuration: configuration)
    }

    var daemonCount: Int {
        switch kind {
        case .shared: 2
        case .fleet: 3
        case .privateCluster: 1
        }
    }

    /// Starts the daemons. Returns when they are ready.
    func start() async throws {
        for number in 0..<daemonCount { try await startDaemon(number) }
        for number in 0..<daemonCount { try await waitForDaemon(number) }
        try await waitUntilReady()
    }

    /// Stops everything like an operator does.
    func stop() async throws -> [ExitStatus] {
        var statuses: [ExitStatus] = []
        for daemon in daemons { statuses.append(try await daemon.process.terminate()) }
        await client.shutdown()
        await cluster?.stop()
        return statuses
    }

    /// Returns a random daemon that may be running.
    func endpoint(using random: inout SeededRandom) -> ClientEndpoint? {
        daemons.compactMap(\.endpoint).randomElement(using: &random)
    }

    var anyEndpoint: ClientEndpoint? { daemons.compactMap(\.endpoint).randomElement() }

    /// One process of a daemon, until it is killed.
    struct Incarnation: Hashable, Sendable {
        let daemon: Int
        let process: Int32
    }

    typealias LiveDaemon = (endpoint: ClientEndpoint, incarnation: Incarnation)

    /// The daemons that may be running.
    var living: [LiveDaemon] {
        daemons.enumerated().compactMap { number, daemon in
            daemon.endpoint.map { ($0, Incarnation(daemon: number, process: daemon.process.process.pid)) }
        }
    }

    func daemon(using random: inout SeededRandom) -> LiveDaemon? {
        living.randomElement(using: &random)
    }

    /// Returns whether this process of the daemon wasn't killed.
    func isAlive(_ daemon: Incarnation) -> Bool {
        living.contains { $0.incarnation == daemon }
    }

    /// The end of the daemons' logs, for a failure's message.
    var output: String {
        daemons.map { $0.process.output.split(separator: "\n").suffix(20).joined(separator: "\n") }
            .joined(separator: "\n--\n")
    }

    // MARK: Daemons

    /// Starts a daemon. The caller must wait for it, or kill it before it listens.
    func startDaemon(_ number: Int) async throws {
        let database =
            kind == .privateCluster ? ["--state-dir", stateDirectory] : ["--database-url", conninfo]
        let process = try await DaemonProcess.start(
            Self.arguments + database + (kind == .fleet ? ["--open-rooms"] : []) + flags)
        if number < daemons.count { daemons[number] = (process, nil) } else { daemons.append((process, nil)) }
    }

    /// Returns when the daemon listens. A daemon that ends because its database was killed during the start is started
    /// again, like an init system would.
    func waitForDaemon(_ number: Int) async throws {
        for _ in 0..<5 where daemons[number].endpoint == nil {
            do {
                daemons[number].endpoint = try await daemons[number].process.nextListening(within: Deadline.standard)
            } catch ClientFailure.ended {
                try await startDaemon(number)
            }
        }
    }

    /// Returns when every daemon reports that it is ready.
    func waitUntilReady() async throws {
        for endpoint in daemons.compactMap(\.endpoint) {
            try await eventually("readiness of a daemon") { try await endpoint.get("/readyz").status == 200 }
        }
    }

    func killDaemon(_ number: Int) async throws {
        daemons[number].endpoint = nil
        try await daemons[number].process.kill9()
    }

    // MARK: The database

    /// - Returns: Whether the database was running.
    func killDatabase() async throws -> Bool {
        guard let postmaster = await postmaster() else { return false }
        try await DatabaseProcesses.kill9(postmaster: postmaster)
        return true
    }

    /// Starts the database unless the daemon does so itself.
    func startDatabase() async throws {
        _ = try await cluster?.start()
    }

    private func postmaster() async -> pid_t? {
        if let cluster { return await cluster.processIdentifier }
        let data = Directory(path: "\(stateDirectory)/postgres/data")
        guard let file = PostmasterFile(data: data), file.isRunning(in: data) else { return nil }
        return file.pid
    }

    /// Repeats a statement until the database accepts it. The statement may be executed twice.
    @discardableResult
    func sql(_ text: String) async throws -> PostgresRows {
        let deadline = ContinuousClock.now + Deadline.standard
        while true {
            do {
                return try await client.query(PostgresStatement(name: "", sql: text), [], timeout: nil)
            } catch let error as PostgresError where error.isUnavailable && ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
