import Basics
import Dispatch
package import Glibc
import Synchronization

/// The daemon's own PostgreSQL cluster in a state directory. It is created if there is none, started if it doesn't run,
/// and taken over if an earlier daemon left it running. It is reached only through a Unix socket. Other clusters are
/// never touched.
package actor PrivateCluster {
    /// Calls block for a few milliseconds (files), or while `initdb` runs. This queue has no other work.
    private nonisolated let executor = QueueExecutor(label: "postgres.cluster")
    private let stateDirectory: Directory
    private let names: ClusterNames
    private let isDurable: Bool
    private let maxConnections: Int
    private let startTimeout: Duration
    private var lock: StateDirectoryLock?
    private var postmaster: Postmaster?
    private var placement: ClusterPlacement?
    /// The postmaster's process id, or 0. Read by `signalFastShutdown` on any thread.
    private nonisolated let pid = Atomic<pid_t>(0)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    /// - isDurable: `false` permits a crash of the machine to lose data, which makes tests faster.
    /// - startTimeout: How long a server may recover from a crash before it accepts connections.
    package init(
        stateDirectory: String, names: ClusterNames, isDurable: Bool = true, maxConnections: Int = 60,
        startTimeout: Duration = .seconds(120)
    ) {
        self.stateDirectory = Directory(path: stateDirectory)
        self.names = names
        self.isDurable = isDurable
        self.maxConnections = maxConnections
        self.startTimeout = startTimeout
    }

    /// Returns when its database accepts connections. Does nothing if the server runs; restarts a server that has
    /// ended. Throws `PrivateClusterError`, whose message is for the person at the terminal.
    package func start() async throws -> PrivateClusterLocation {
        if isRunning, let postmaster, let placement { return placement.location(sockets: postmaster.sockets) }
        postmaster = nil
        try stateDirectory.createWithParents()
        let lock = try lock ?? StateDirectoryLock(stateDirectory)
        self.lock = lock
        do {
            return try await startLocked()
        } catch {
            if postmaster == nil { self.lock = nil }
            throw error
        }
    }

    /// Stops the server cleanly, or at once if that takes longer than `timeout`, and unlocks the state directory. Does
    /// nothing if it doesn't run.
    package func stop(timeout: Duration = .seconds(20)) async {
        defer { lock = nil }
        guard let postmaster else { return }
        for (signal, patience) in [(SIGINT, timeout), (SIGQUIT, .seconds(3)), (SIGKILL, .seconds(3))] {
            // After it was reaped, its number may belong to another process.
            guard postmaster.isRunning else { break }
            postmaster.signal(signal)
            if await hasEnded(postmaster, within: patience) { break }
        }
        pid.store(0, ordering: .relaxed)
        self.postmaster = nil
    }

    /// Tells the server to stop, and returns at once, for a daemon that gets a second signal to end. It only calls
    /// `kill`.
    package nonisolated func signalFastShutdown() {
        let pid = pid.load(ordering: .relaxed)
        if pid > 1 { kill(pid, SIGINT) }
    }

    /// Whether the server is running. `start` can restart a server that has ended.
    package var isRunning: Bool {
        guard let postmaster else { return false }
        if postmaster.isRunning { return true }
        pid.store(0, ordering: .relaxed)
        return false
    }

    /// The server's process, for tests that kill it.
    package var processIdentifier: pid_t? { postmaster?.pid }

    private func startLocked() async throws -> PrivateClusterLocation {
        let placement = try ClusterPlacement.choose(state: stateDirectory, names: names)
        try placement.home.createPrivate(for: placement.user)
        let existing = try existingVersion(placement.data)
        let binaries = try PostgresBinaries.choose(
            for: existing, data: placement.data, user: placement.user, names: names)
        if existing == nil {
            try DataInitialisation(placement: placement, binaries: binaries, isDurable: isDurable).run()
        }
        try placement.sockets.createPrivate(for: placement.user)
        let postmaster: Postmaster
        do {
            postmaster = try await ServerStart(
                placement: placement, binaries: binaries,
                settings: ServerSettings(
                    name: names.program, sockets: placement.sockets, isDurable: isDurable,
                    maxConnections: maxConnections),
                deadline: .now + startTimeout
            ) { self.pid.store($0, ordering: .relaxed) }.run()
        } catch {
            pid.store(0, ordering: .relaxed)
            throw error
        }
        self.placement = placement
        self.postmaster = postmaster
        pid.store(postmaster.pid, ordering: .relaxed)
        try await names.createDatabase(sockets: postmaster.sockets)
        return placement.location(sockets: postmaster.sockets)
    }

    /// Returns the major version of the existing data; nil if there is none.
    private func existingVersion(_ data: Directory) throws -> Int? {
        guard data.exists else { return nil }
        guard let version = PostgresBinaries.version(ofData: data) else {
            if data.entries.isEmpty { return nil }
            throw PrivateClusterError("\(data.path) exists, but contains no PostgreSQL data")
        }
        return version
    }

    private func hasEnded(_ postmaster: Postmaster, within patience: Duration) async -> Bool {
        let end = ContinuousClock.now + patience
        while postmaster.isRunning {
            guard ContinuousClock.now < end else { return false }
            // Waits also if the own task is cancelled, because that is when a cluster is stopped.
            await withCheckedContinuation { continuation in
                executor.queue.asyncAfter(deadline: DispatchTime.now() + .milliseconds(10)) { continuation.resume() }
            }
        }
        return true
    }
}

/// The location of a private cluster.
package struct PrivateClusterLocation: Sendable, Equatable {
    /// The connection string of its database, over the cluster's Unix socket.
    package let conninfo: String
    package let dataDirectory: String
    package let socketDirectory: String
    /// The requested state directory, if the data is elsewhere.
    package let relocatedFrom: String?
    /// The reason for that, for people.
    package let relocationReason: String?
}
