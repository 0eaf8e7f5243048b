import Glibc

/// Starts the server of a data directory, or finds the one that runs.
struct ServerStart {
    let placement: ClusterPlacement
    let binaries: PostgresBinaries
    let settings: ServerSettings
    let deadline: ContinuousClock.Instant
    /// Told the process of a server that was begun, which may take long until it is ready.
    let begun: @Sendable (pid_t) -> Void

    /// How often the server's state file is looked at: a server without recovery to do is up in some 50 ms.
    private static let interval: Duration = .milliseconds(10)

    /// Returns when it accepts connections.
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

    /// Whether another try will do: processes of a server that was killed take a moment to notice and hold its shared
    /// memory till then; and a server that a killed daemon had just started may write its file only now.
    private static func passes(_ error: PrivateClusterError) -> Bool {
        error.message.contains("shared memory block") || error.message.contains("\"postmaster.pid\" already exists")
    }

    /// The server that runs already, when it is ready; nil when there is none.
    private func takeOver() async throws -> Postmaster? {
        while let file = PostmasterFile(data: placement.data) {
            guard file.isRunning(in: placement.data) else {
                // PostgreSQL copes with the file of a server that has gone, unless its number is another process's now.
                if kill(file.pid, 0) == 0 { unlink(placement.data.appending("postmaster.pid").path) }
                return nil
            }
            let running = Postmaster(
                pid: file.pid, isChild: false, data: placement.data, sockets: file.socketDirectory)
            if file.isReady {
                let socket = Directory(path: file.socketDirectory).appending(".s.PGSQL.\(file.port)")
                if socket.exists { return running }
                // Its socket was cleaned away: nobody can reach it, so it starts anew.
                running.signal(SIGINT)
            }
            try await pause("a server that runs already (process \(file.pid)) is not ready")
        }
        return nil
    }

    /// A server that was killed leaves its socket's lock, too. PostgreSQL takes it for a server's while any process has
    /// that number: another by now, or a zombie that nobody reaps.
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

    /// The end of the newest log file.
    private var logTail: String {
        let logs = placement.data.appending("log")
        let newest = logs.entries.map { logs.appending($0) }.max { $0.modified < $1.modified }
        return newest.flatMap { SmallFile.tail($0.path, limit: 2_048) } ?? ""
    }
}

/// What the server is told on its command line, so that a new release of ours changes it without touching files.
struct ServerSettings {
    /// What the cluster is called in the list of processes.
    let name: String
    let sockets: Directory
    let isDurable: Bool
    let maxConnections: Int

    var arguments: [String] {
        var settings = [
            "listen_addresses=", "port=\(ClusterPlacement.port)", "unix_socket_directories=\(sockets.path)",
            "unix_socket_permissions=0700", "cluster_name=\(name)", "max_connections=\(maxConnections)",
            "shared_buffers=32MB", "max_wal_size=256MB", "timezone=UTC", "log_timezone=UTC", "lc_messages=C", "jit=off",
            // A file for each day of the week, begun anew when its day comes round: bounded without a cleaner.
            "logging_collector=on", "log_directory=log", "log_filename=postgresql-%a.log", "log_rotation_age=1d",
            "log_rotation_size=0", "log_truncate_on_rotation=on", "log_line_prefix=%m [%p] ",
        ]
        // What is committed then still survives the death of any process, but not that of the machine.
        if !isDurable { settings += ["fsync=off", "full_page_writes=off"] }
        return settings.flatMap { ["-c", $0] }
    }
}
