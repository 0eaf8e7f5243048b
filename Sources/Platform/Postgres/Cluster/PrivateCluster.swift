import Basics
import Dispatch
package import Glibc
import Synchronization

/// The daemon's own PostgreSQL cluster in a state directory. The cluster is created if it doesn't exist, and started if
/// it isn't running. If an earlier daemon left it running, this daemon takes it over. The server accepts connections
/// only through a Unix socket. Other clusters on the machine are never changed.
package actor PrivateCluster {
    /// The queue of this actor. File operations block it for a few milliseconds, and `initdb` for longer. The queue has
    /// no other work.
    private nonisolated let executor = QueueExecutor(label: "postgres.cluster")
    private let stateDirectory: Directory
    private let names: ClusterNames
    private let isDurable: Bool
    private let maxConnections: Int
    private let startTimeout: Duration
    private var lock: StateDirectoryLock?
    private var postmaster: Postmaster?
    private var placement: ClusterPlacement?
    /// The postmaster's process id, or 0 if there is none. `signalFastShutdown` reads it on any thread.
    private nonisolated let pid = Atomic<pid_t>(0)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - isDurable: Whether data survives a crash of the machine. `false` makes tests faster.
    ///   - startTimeout: The time limit for a start, in which a server may have to recover from a crash.
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

    /// Returns when the cluster's database accepts connections. Does nothing if the server is running, and restarts a
    /// server that has ended. Throws `PrivateClusterError`, with a message for the person at the terminal.
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

    /// Stops the server cleanly, or with SIGQUIT if a clean stop takes longer than `timeout`. Unlocks the state
    /// directory. Does nothing if the server isn't running.
    package func stop(timeout: Duration = .seconds(20)) async {
        defer { lock = nil }
        guard let postmaster else { return }
        for (signal, patience) in [(SIGINT, timeout), (SIGQUIT, .seconds(3)), (SIGKILL, .seconds(3))] {
            // The process may have been reaped. Its number may then belong to another process, so no signal is sent.
            guard postmaster.isRunning else { break }
            postmaster.signal(signal)
            if await hasEnded(postmaster, within: patience) { break }
        }
        pid.store(0, ordering: .relaxed)
        self.postmaster = nil
    }

    /// Requests the server to stop, and returns without waiting for it. A daemon calls this when it receives a second
    /// signal to end. The method only calls `kill`.
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

    /// The id of the server's process, for tests that kill it.
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

    /// Returns the major version of the existing data, or `nil` if there is none.
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
            // This wait continues if the caller's task is cancelled, because a cluster is often stopped in a cancelled
            // task.
            await withCheckedContinuation { continuation in
                executor.queue.asyncAfter(deadline: DispatchTime.now() + .milliseconds(10)) { continuation.resume() }
            }
        }
        return true
    }
}

/// The location of a private cluster.
package struct PrivateClusterLocation: Sendable, Equatable {
    /// The connection string of the cluster's database, through the Unix socket.
    package let conninfo: String
    package let dataDirectory: String
    package let socketDirectory: String
    /// The requested state directory, if the data isn't there.
    package let relocatedFrom: String?
    /// The reason why the data isn't in the requested directory, as a text for people.
    package let relocationReason: String?
}
