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
