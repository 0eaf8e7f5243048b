import Glibc

/// Starts the server of a data directory, or finds the running one.
struct ServerStart {
    let placement: ClusterPlacement
    let binaries: PostgresBinaries
    let settings: ServerSettings
    let deadline: ContinuousClock.Instant
    /// Receives the process id of a started server, before the server is ready.
    let begun: @Sendable (pid_t) -> Void

    /// The interval at which the server's state file is read. Without a recovery, a server is ready within about 50 ms.
    private static let interval: Duration = .milliseconds(10)

    /// Returns the server when it accepts connections.
    func run() async throws -> Postmaster {
        while true {
            if let running = try await takeOver() { return running }
            do {
                return try await launch()
            } catch let error as PrivateClusterError {
                guard Self.passes(error), ContinuousClock.now < deadline else { throw error }
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Whether another attempt may succeed. There are two cases. The processes of a killed server still hold its shared
    /// memory, until they notice the server's end. Or a killed daemon had just started a server, which creates its file
    /// only now.
    private static func passes(_ error: PrivateClusterError) -> Bool {
        error.message.contains("shared memory block") || error.message.contains("\"postmaster.pid\" already exists")
    }

    /// Returns the running server when it is ready, or `nil` if no server is running.
    private func takeOver() async throws -> Postmaster? {
        while let file = PostmasterFile(data: placement.data) {
            guard file.isRunning(in: placement.data) else {
                // The server of this file has ended. PostgreSQL ignores such a file, unless its process id now belongs
                // to another process. In that case the file is removed here.
                if kill(file.pid, 0) == 0 { unlink(placement.data.appending("postmaster.pid").path) }
                return nil
            }
            let running = Postmaster(
                pid: file.pid, isChild: false, data: placement.data, sockets: file.socketDirectory)
            if file.isReady {
                let socket = Directory(path: file.socketDirectory).appending(".s.PGSQL.\(file.port)")
                if socket.exists { return running }
                // The server's socket was deleted, so no client can reach the server. The server has to restart.
                running.signal(SIGINT)
            }
            try await pause("a server that runs already (process \(file.pid)) is not ready")
        }
        return nil
    }

    /// Removes the lock file of a killed server's socket. Otherwise, if another process or a zombie has the process id
    /// in the file, PostgreSQL assumes that a server uses the socket.
    private func removeStaleSocketLock() {
        let lock = placement.sockets.appending(".s.PGSQL.\(ClusterPlacement.port).lock")
        guard let text = SmallFile.tail(lock.path), let file = PostmasterFile(text: text) else { return }
        if !file.isRunning(in: placement.data), kill(file.pid, 0) == 0 { unlink(lock.path) }
    }

    private func launch() async throws -> Postmaster {
        removeStaleSocketLock()
        var template = Array("/tmp/\(placement.names.program)-start.XXXXXX".utf8CString)
        let output = mkstemp(&template)
        guard output >= 0 else {
            throw PrivateClusterError("cannot create", "/tmp/\(placement.names.program)-start", errno: errno)
        }
        defer { close(output) }
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        unlink(template)
        let command =
            placement.user.commandPrefix + [binaries.path("postgres"), "-D", placement.data.path] + settings.arguments
        let pid = try Subprocess(command: command).start(output: output)
        begun(pid)
        let postmaster = Postmaster(
            pid: pid, isChild: true, data: placement.data, sockets: placement.sockets.path)
        while true {
            guard postmaster.isRunning else {
                throw PrivateClusterError("PostgreSQL did not start:\n\(SmallFile.tail(output))\(logTail)")
            }
            if let file = PostmasterFile(data: placement.data), file.pid == pid, file.isReady { return postmaster }
            do {
                try await pause("PostgreSQL is not ready:\n\(SmallFile.tail(output))\(logTail)")
            } catch {
                postmaster.signal(SIGINT)
                throw error
            }
        }
    }

    private func pause(_ complaint: String) async throws {
        guard ContinuousClock.now < deadline else { throw PrivateClusterError(complaint) }
        try await Task.sleep(for: Self.interval)
    }

    /// The last bytes of the newest log file.
    private var logTail: String {
        let logs = placement.data.appending("log")
        let newest = logs.entries.map { logs.appending($0) }.max { $0.modified < $1.modified }
        return newest.flatMap { SmallFile.tail($0.path, limit: 2_048) } ?? ""
    }
}

/// The settings on the server's command line. A new release of this program can change them without changing files.
struct ServerSettings {
    /// The cluster's name in the list of processes.
    let name: String
    let sockets: Directory
    let isDurable: Bool
    let maxConnections: Int

    var arguments: [String] {
        var settings = [
            "listen_addresses=", "port=\(ClusterPlacement.port)", "unix_socket_directories=\(sockets.path)",
            "unix_socket_permissions=0700", "cluster_name=\(name)", "max_connections=\(maxConnections)",
            "shared_buffers=32MB", "max_wal_size=256MB", "timezone=UTC", "log_timezone=UTC", "lc_messages=C", "jit=off",
            // There is one file for each day of the week, overwritten after a week. This bounds the size without a job
            // that deletes files.
            "logging_collector=on", "log_directory=log", "log_filename=postgresql-%a.log", "log_rotation_age=1d",
            "log_rotation_size=0", "log_truncate_on_rotation=on", "log_line_prefix=%m [%p] ",
        ]
        // With these settings, committed data survives the end of any process, but not a crash of the machine.
        if !isDurable { settings += ["fsync=off", "full_page_writes=off"] }
        return settings.flatMap { ["-c", $0] }
    }
}
