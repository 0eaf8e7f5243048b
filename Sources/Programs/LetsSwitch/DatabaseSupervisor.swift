import Basics
import Observability
import Postgres
import Settings

/// Starts the private cluster, restarts it, and prepares the schema. Repeats this until it succeeds.
actor DatabaseSupervisor {
    private static let retryPause = Duration.milliseconds(250)
    /// The number of the private cluster's connections in addition to those for requests: for the scheduler, LISTEN, a
    /// second daemon, and psql.
    private static let furtherConnections = 20

    private let configuration: Configuration
    private let log: Log
    private var cluster: PrivateCluster?
    private var preparing: Task<Void, Never>?
    /// The reason why the daemon must not start; `nil` if none is known.
    private var refusal: (any Error)?
    /// Whether ``prepare(_:patience:enter:ready:)`` still waits.
    private var isStarting = true
    private var isReviving = false
    private var isEnding = false

    init(_ configuration: Configuration, log: Log) {
        self.configuration = configuration
        self.log = log
    }

    /// Returns the conninfo of the database, and its name for the log.
    func open() async throws -> (conninfo: String, name: String) {
        switch configuration.database {
        case .url(let url):
            return (url, configuration.database.description)
        case .libpqEnvironment:
            return ("", configuration.database.description)
        case .privateCluster:
            let cluster = PrivateCluster(
                stateDirectory: configuration.stateDirectory, names: .product,
                maxConnections: max(60, configuration.postgres.maxConnections + Self.furtherConnections))
            self.cluster = cluster
            let location = try await cluster.start()
            guard let asked = location.relocatedFrom else { return (location.conninfo, location.dataDirectory) }
            let reason = location.relocationReason ?? "the directory can't be used"
            return (location.conninfo, "\(location.dataDirectory) (not \(asked): \(reason))")
        }
    }

    // MARK: Ready

    /// Prepares the database, and then calls `ready`. Returns when this is done, or after `patience`.
    ///
    /// - Parameter enter: Writes what the database must contain before the first request is answered.
    /// - Throws: ``TransactionPoolerError`` or ``UnusableSchemaError`` if the fault is found within `patience`. After
    ///   that time, the fault is only logged.
    func prepare(
        _ database: Database, patience: Duration, enter: @escaping @Sendable () async throws -> Void,
        ready: @escaping @Sendable () async -> Void
    ) async throws {
        let preparing = Task { await self.keepPreparing(database, enter, ready) }
        self.preparing = preparing
        await preparing.ends(within: patience)
        isStarting = false
        if let refusal { throw refusal }
    }

    private func keepPreparing(
        _ database: Database, _ enter: @Sendable () async throws -> Void, _ ready: @Sendable () async -> Void
    ) async {
        var reported: String?
        while !isEnding, !Task.isCancelled {
            do {
                let change = try await database.prepare(enter)
                if !change.isEmpty {
                    log.info(
                        "database migrated",
                        ["migrations": .int(change.migrations.count), "functions": .bool(change.replacedFunctions)])
                }
                return await ready()
            } catch let error where isStarting && (error is TransactionPoolerError || error is UnusableSchemaError) {
                refusal = error
                return
            } catch {
                report(error, after: &reported)
                try? await Task.sleep(for: Self.retryPause)
            }
        }
    }

    /// Logs the reason why the database isn't ready, unless the reason is the same as before.
    private func report(_ error: any Error, after last: inout String?) {
        let text = "\(error)"
        guard text != last else { return }
        last = text
        if let error = error as? PostgresError, error.isUnavailable {
            log.warning("waiting for the database", ["error": .string(text)])
        } else {
            log.error("the database can't be used", ["error": .string(text)])
        }
    }

    /// Restarts the server of the private cluster if it has died.
    func revive() async {
        guard let cluster, !isReviving, !isEnding else { return }
        isReviving = true
        defer { isReviving = false }
        do {
            _ = try await cluster.start()
        } catch {
            log.error("the private cluster can't be started", ["error": .string("\(error)")])
            try? await Task.sleep(for: .seconds(1))
        }
    }

    // MARK: The end

    /// Prevents further starts.
    func end() {
        isEnding = true
    }

    /// Stops the private cluster. Call ``end()`` first, so that the cluster isn't started again. If the cluster doesn't
    /// stop cleanly within `limit`, it is stopped without a clean end.
    func stop(within limit: Duration) async {
        preparing?.cancel()
        await cluster?.stop(timeout: limit)
    }

    /// Makes the private cluster stop without waiting for it, for a process that exits immediately.
    func abandonCluster() {
        cluster?.signalFastShutdown()
    }
}
