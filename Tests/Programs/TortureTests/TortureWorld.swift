import Foundation
import Glibc
import JourneyTestSupport
import TestSupport

@testable import Postgres

/// Daemons and their database, to be killed and brought back.
actor TortureWorld {
    enum Kind: String, CaseIterable {
        /// Two daemons on one database, which somebody else starts again, as an init does.
        case shared
        /// Three, with people in rooms who hear each other by the bus.
        case fleet
        /// One daemon that keeps the database itself.
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

    /// Nothing runs yet but the database of ``Kind/shared``.
    ///
    /// - Parameter flags: Of each daemon, besides its own.
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

    /// Starts the daemons, and returns when they listen.
    func start() async throws {
        for number in 0..<daemonCount { try await startDaemon(number) }
        for number in 0..<daemonCount { try await waitForDaemon(number) }
    }

    /// Ends everything as an operator does.
    func stop() async throws -> [ExitStatus] {
        var statuses: [ExitStatus] = []
        for daemon in daemons { statuses.append(try await daemon.process.terminate()) }
        await client.shutdown()
        await cluster?.stop()
        return statuses
    }

    /// A daemon that may be there.
    func endpoint(using random: inout SeededRandom) -> ClientEndpoint? {
        daemons.compactMap(\.endpoint).randomElement(using: &random)
    }

    var anyEndpoint: ClientEndpoint? { daemons.compactMap(\.endpoint).randomElement() }

    /// One of a daemon's lives.
    struct Incarnation: Hashable, Sendable {
        let daemon: Int
        let process: Int32
    }

    typealias LivingDaemon = (endpoint: ClientEndpoint, incarnation: Incarnation)

    /// Those that may be there.
    var living: [LivingDaemon] {
        daemons.enumerated().compactMap { number, daemon in
            daemon.endpoint.map { ($0, Incarnation(daemon: number, process: daemon.process.process.pid)) }
        }
    }

    func daemon(using random: inout SeededRandom) -> LivingDaemon? {
        living.randomElement(using: &random)
    }

    /// Whether nobody has killed it.
    func isAlive(_ daemon: Incarnation) -> Bool {
        living.contains { $0.incarnation == daemon }
    }

    /// The daemons' last words, for a failure's message.
    var output: String {
        daemons.map { $0.process.output.split(separator: "\n").suffix(20).joined(separator: "\n") }
            .joined(separator: "\n--\n")
    }

    // MARK: Daemons

    /// Starts it. It is to be waited for, or killed before it is up.
    func startDaemon(_ number: Int) async throws {
        let database =
            kind == .privateCluster ? ["--state-dir", stateDirectory] : ["--database-url", conninfo]
        let process = try await DaemonProcess.start(
            Self.arguments + database + (kind == .fleet ? ["--open-rooms"] : []) + flags)
        if number < daemons.count { daemons[number] = (process, nil) } else { daemons.append((process, nil)) }
    }

    /// Returns when it listens. One that gives up, because its database was killed as it started, is started again, as an
    /// init does.
    func waitForDaemon(_ number: Int) async throws {
        for _ in 0..<5 where daemons[number].endpoint == nil {
            do {
                daemons[number].endpoint = try await daemons[number].process.nextListening(within: Deadline.standard)
            } catch ClientFailure.ended {
                try await startDaemon(number)
            }
        }
    }

    /// Returns when every daemon says that it has its database.
    func waitUntilReady() async throws {
        for endpoint in daemons.compactMap(\.endpoint) {
            try await eventually("readiness after kills") { try await endpoint.get("/readyz").status == 200 }
        }
    }

    func killDaemon(_ number: Int) async throws {
        daemons[number].endpoint = nil
        try await daemons[number].process.kill9()
    }

    // MARK: The database

    /// - Returns: Whether it was running.
    func killDatabase() async throws -> Bool {
        guard let postmaster = await postmaster() else { return false }
        try await DatabaseProcesses.kill9(postmaster: postmaster)
        return true
    }

    /// Starts it, unless that is the daemon's part.
    func startDatabase() async throws {
        _ = try await cluster?.start()
    }

    private func postmaster() async -> pid_t? {
        if let cluster { return await cluster.processIdentifier }
        let data = Directory(path: "\(stateDirectory)/postgres/data")
        guard let file = PostmasterFile(data: data), file.isRunning(in: data) else { return nil }
        return file.pid
    }

    /// A statement that may be done twice, tried until the database takes it.
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
