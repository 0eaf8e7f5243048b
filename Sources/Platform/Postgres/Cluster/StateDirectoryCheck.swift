import Glibc

/// Tests whether a daemon can use a state directory.
package enum StateDirectoryCheck {
    /// Returns the reason why the directory can't be created or written, with the path, or `nil` if it can. The test
    /// creates a directory in the same place as the daemon would, and removes it.
    package static func refusal(_ path: String) -> String? {
        // The daemon would create the missing part of the path, so the existing part is tested.
        var existing = path.hasPrefix("/") ? "/" : "."
        var built = path.hasPrefix("/") ? "" : "."
        var status = stat()
        for component in path.split(separator: "/") {
            built += "/\(component)"
            guard stat(built, &status) == 0 else { break }
            existing = built
        }
        let probe = Directory(path: existing).appending(".letsswitch-check-\(getpid())")
        guard mkdir(probe.path, 0o700) == 0 else { return "cannot write \(existing): \(systemMessage(errno))" }
        rmdir(probe.path)
        return nil
    }
}

extension PrivateCluster {
    /// Returns a reason why a private cluster can't be started with that state directory, or `nil` if none is known
    /// before a start.
    package static func refusal(stateDirectory: String) -> String? {
        if let reason = StateDirectoryCheck.refusal(stateDirectory) { return reason }
        return PostgresBinaries.installed().isEmpty ? PostgresBinaries.missing : nil
    }
}
