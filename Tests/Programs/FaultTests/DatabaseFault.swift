import JourneyTestSupport
import Postgres
import TestSupport

/// A way in which the database becomes unavailable while the daemon runs.
enum DatabaseFault: String, CaseIterable {
    case stopped, crashed, readOnly, readOnlySessions, diskFull, fileLimit, connectionsUsedUp, lockedTables
    /// The packets are lost. Open connections never work again, and new ones work when the network does.
    case halfOpen
    /// Connections are cut. New ones are accepted, but receive nothing.
    case noHandshake

    var isInNetwork: Bool { self == .halfOpen || self == .noHandshake }

    /// Returns a cluster of the test's own if the fault affects more than one database.
    func cluster() async throws -> TestCluster {
        switch self {
        case .stopped, .crashed, .readOnly, .diskFull, .fileLimit, .connectionsUsedUp:
            try await .dedicated(maxConnections: 30)
        case .readOnlySessions, .lockedTables, .halfOpen, .noHandshake: .shared
        }
    }
}

/// Causes a fault and ends it.
actor FaultyDatabase {
    private let fault: DatabaseFault
    private let cluster: TestCluster
    private let journey: Journey
    private let relay: StallingRelay
    private let disk: FullDisk?
    /// The sessions that use up the connections or hold the lock.
    private var sessions: [PostgresSession] = []

    /// The conninfo for the daemon.
    nonisolated let conninfo: String

    init(_ fault: DatabaseFault, _ cluster: TestCluster, _ journey: Journey) async throws {
        self.fault = fault
        self.cluster = cluster
        self.journey = journey
        let (relay, relayed) = try journey.relay()
        self.relay = relay
        conninfo = fault.isInNetwork ? relayed : journey.faultyConninfo
        disk =
            fault == .diskFull || fault == .fileLimit
            ? try await FullDisk(of: cluster, journey, byLimit: fault == .fileLimit) : nil
    }

    func begin() async throws {
        switch fault {
        case .stopped: await cluster.stop()
        case .crashed: await cluster.crash()
        case .readOnly:
            let session = try await journey.connect()
            try await journey.administer("ALTER SYSTEM SET default_transaction_read_only = on; SELECT pg_reload_conf()")
            // The server's sessions read the new setting one after the other.
            let shown = "default_transaction_read_only"
            try await eventually(shown) { try await session.execute("SHOW \(shown)")?[0].string(shown) == "on" }
            await session.close()
        case .readOnlySessions:
            try await setDatabase("SET default_transaction_read_only = on")
            try await journey.terminateConnections()
        case .diskFull, .fileLimit: try await disk?.fill()
        case .connectionsUsedUp: try await useUpConnections()
        case .lockedTables:
            let session = try await journey.connect()
            sessions.append(session)
            try await session.execute("BEGIN")
            try await session.execute("LOCK TABLE schedule.task, schedule.due IN ACCESS EXCLUSIVE MODE")
        case .halfOpen:
            relay.abandon()
            relay.stall()
        case .noHandshake:
            relay.stall()
            relay.drop()
        }
    }

    func end() async throws {
        switch fault {
        case .stopped, .crashed: try await cluster.start()
        case .readOnly:
            try await journey.administer("ALTER SYSTEM RESET default_transaction_read_only; SELECT pg_reload_conf()")
        case .readOnlySessions: try await setDatabase("RESET default_transaction_read_only")
        case .diskFull, .fileLimit: try await disk?.free()
        case .connectionsUsedUp, .lockedTables: await closeSessions()
        case .halfOpen, .noHandshake: relay.resume()
        }
    }

    /// Removes everything after the test.
    func remove() async {
        await closeSessions()
        relay.close()
        if cluster !== TestCluster.shared { await cluster.stop() }
        disk?.remove()
    }

    private func closeSessions() async {
        for session in sessions { await session.close() }
        sessions = []
    }

    private func setDatabase(_ change: String) async throws {
        let name = try await journey.sql("SELECT current_database()::text AS name")[0].string("name")
        try await journey.administer("ALTER DATABASE \(name) \(change)")
    }

    /// Takes every connection that becomes free before the daemon reconnects.
    private func useUpConnections() async throws {
        var isChanging = true
        while isChanging {
            isChanging = try await journey.terminateConnections() > 0
            while let session = try? await journey.connect() {
                sessions.append(session)
                // If a connection became free, the daemon may have taken another one. So this checks again.
                isChanging = true
            }
        }
    }
}
